// What ParaView's panel for a proxy does not do by itself.
#ifndef TidyPanel_h
#define TidyPanel_h

class QWidget;

/// For the panel of the proxy around this widget: lists become narrow enough for ParaView's dock, whatever
/// their longest entry, and numbers get the unit behind them that their property names in its hints, <Unit
/// text="MB" />.
void TidyPanel(QWidget* widget);

#endif
