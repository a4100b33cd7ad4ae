// Small improvements of ParaView's panel for a proxy.
#ifndef TidyPanel_h
#define TidyPanel_h

class QWidget;

/// In the panel around this widget, lists become narrow enough for ParaView's dock, however long their
/// entries are, and numbers get the unit that their property has in its hints, such as <Unit text="MB" />.
void TidyPanel(QWidget* widget);

#endif
