#include "Model.h"

#include "Base/Error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace patchio::emulator {

namespace {

void Demand(bool fulfilled, const std::string& what)
{
  if (!fulfilled) {
    throw Error("The emulated storage cannot be like that: " + what + ".");
  }
}

bool AtLeast(double value, double least)
{
  return std::isfinite(value) && value >= least;
}

}  // namespace

double Model::Service(std::size_t bytes) const
{
  return this->Latency + static_cast<double>(bytes) / this->Stream;
}

double Model::Speed(double inFlight, double demand) const
{
  const double served = std::min(1.0, this->Concurrency / inFlight);
  const double allowed = this->Total > 0 && demand > this->Total ? this->Total / demand : 1.0;
  return std::min(served, allowed) * std::pow(served, this->Contention);
}

double Model::Rate(int own, int others, std::size_t bytes) const
{
  const double size = static_cast<double>(bytes);
  const double alone = size / this->Service(bytes);
  const double inFlight = own + others;
  return own * alone * this->Speed(inFlight, inFlight * alone);
}

void CheckModel(const Model& model)
{
  Demand(AtLeast(model.Latency, 0), "its latency must be 0 or more");
  Demand(AtLeast(model.Stream, 1), "the rate of one request must be above 0");
  Demand(model.Concurrency >= 1, "it must serve at least one request at once");
  Demand(AtLeast(model.Total, 0), "its total rate must be 0 (no limit) or more");
  Demand(AtLeast(model.Contention, 0) && model.Contention <= 10, "its contention must be 0 to 10");
}

}  // namespace patchio::emulator
