#include "ReportText.h"

#include "Base/ByteText.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>

#include <cstdint>

namespace {

QString Digits(double value)
{
  return QString::number(value, 'f', value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

QString Count(double count, const char* one, const char* several = "")
{
  return QString::fromStdString(patchio::CountText(static_cast<std::uint64_t>(count), one, several));
}

/// The file of the step with its folder; only the folder for dumps and plotfiles, whose files all have the
/// same name.
QString NameOfStep(const QString& path)
{
  const QFileInfo file(path);
  const bool isDump = file.fileName() == "summary.samrai" || file.fileName() == "Header";
  return isDump ? file.dir().dirName() : file.dir().dirName() + "/" + file.fileName();
}

/// What was read, in which time and at which rate: numbers that agree with each other, and with the rows
/// "Read" and "Decode" of the table together.
QString ReadText(const QJsonObject& report)
{
  const double bytes = report["bytes"].toDouble(), cached = report["cached_bytes"].toDouble();
  const double reading = ReadingSeconds(report["seconds"].toObject());
  if (report["cancelled"].toBool()) {
    return QObject::tr(
        "<b>Cancelled</b> after %1 of %2; nothing is shown. Click Apply or change the time step to read "
        "again.")
        .arg(BytesText(bytes), BytesText(report["wanted_bytes"].toDouble()));
  }
  if (bytes <= 0) {
    return cached > 0 ? QObject::tr("No reads: all %1 were in memory").arg(BytesText(cached))
                      : QObject::tr("No data were read");
  }
  const QString text = QObject::tr("%1 read and decoded in %2").arg(BytesText(bytes), SecondsText(reading));
  return reading > 0 ? text + QString(", <b>%1</b>").arg(RateText(bytes / reading)) : text;
}

}  // namespace

QString BytesText(double bytes)
{
  return QString::fromStdString(patchio::ByteText(bytes));
}

QString SecondsText(double seconds)
{
  return seconds >= 1 ? Digits(seconds) + " s" : Digits(seconds * 1e3) + " ms";
}

QString RateText(double rate)
{
  return BytesText(rate) + "/s";
}

double ReadingSeconds(const QJsonObject& seconds)
{
  return seconds["read"].toDouble() + seconds["decode"].toDouble();
}

QString SummaryOf(const QJsonObject& report, const QFontMetrics& bold, int width)
{
  const QString path = report["file"].toString();
  const QJsonArray threads = report["threads_of_rank"].toArray();
  const int least = threads[0].toInt(), most = threads[1].toInt(), ranks = report["ranks"].toInt();
  const QString perRank =
      least == most ? Count(most, "thread") : QObject::tr("%1 to %2 threads").arg(least).arg(most);
  const QString name = bold.elidedText(NameOfStep(path), Qt::ElideMiddle, width);
  const QString date = report["date"].toString();
  const QString when = date.isEmpty() ? QObject::tr("time %1").arg(report["time"].toDouble()) : date;
  QString text = QString("<b>%1</b>, %2<br>%3<br>%4 \u00d7 %5")
                     .arg(name.toHtmlEscaped(), when, ReadText(report), Count(ranks, "rank"), perRank);
  if (!report["cancelled"].toBool()) {
    text += QObject::tr(", %1 in %2")
                .arg(Count(report["patches"].toDouble(), "patch", "patches"),
                    Count(report["blocks"].toDouble(), "block"));
  }
  return text;
}
