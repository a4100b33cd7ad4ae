// The I/O report of a read in words.
#ifndef ReportText_h
#define ReportText_h

#include <QFontMetrics>
#include <QJsonObject>
#include <QString>

QString BytesText(double bytes);
/// "5.82 ms".
QString SecondsText(double seconds);
/// rate: bytes a second.
QString RateText(double rate);

/// The seconds of waiting for the storage and of decoding, together: rates are of these. seconds: an object
/// of the report.
double ReadingSeconds(const QJsonObject& seconds);

/// Lines of rich text: the file and the time, what was read at which rate, and by whom. A name without blanks
/// cannot be wrapped, so the file's is shortened to `width` pixels in the font `bold`.
QString SummaryOf(const QJsonObject& report, const QFontMetrics& bold, int width);

#endif
