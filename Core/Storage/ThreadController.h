#pragma once
#include <vector>
namespace patchio {
struct ControllerOptions { int Start = 8; int Least = 1; int Most = 256; double Tolerance = 0.02; int Granularity = 1; };
struct ThreadsTried { int Threads; double Rate; int Samples; int Epoch; };
class ThreadController {
public:
  explicit ThreadController(const ControllerOptions& o) : N(o.Start) {}
  int Threads() const { return N; }
  double WindowSeconds() const { return 0.5; }
  void Observe(double, int) {}
  int BestSoFar() const { return N; }
  const std::vector<ThreadsTried>& History() const { return Tried; }
private:
  int N;
  std::vector<ThreadsTried> Tried;
};
}
