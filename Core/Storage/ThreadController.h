#pragma once

#include <vector>

namespace patchio {

struct ControllerOptions
{
  int Start = 8;
  int Least = 1;
  int Most = 256;
  double Tolerance = 0.02;
  int Granularity = 1;
};

struct ThreadsTried
{
  int Threads;
  double Rate;
  int Samples;
  int Epoch;
};

class ThreadController
{
public:
  explicit ThreadController(const ControllerOptions& options);
  int Threads() const { return this->Arms[this->Current]; }
  double WindowSeconds() const;
  void Observe(double rate, int threads);
  int BestSoFar() const { return this->Arms[this->Leader]; }
  const std::vector<ThreadsTried>& History() const { return this->Tried; }

  struct Tune { double Forget=0.985, H=20, Look=2; double Z1=4, Cus=5, CusK=0.7; double Win=0.5; double Steps=6; double Adapt=0.05; double PriorSd=2, Sw=0.3, MixVar=0.05, Temper=1.0, Miss=0.02, Early=0, Reach=3, Gof=4, Gof2=6, Keep=1, DoubtF=1.5, Relax=0.5;};
  static Tune T;

private:
  using Vector = std::vector<double>;
  struct Shape { int Table; double Knee; double Prior; double Best; };
  void MakeArms(const ControllerOptions& options);
  void MakeShapes();
  double Value(const Shape& s, double x) const;
  void Restart();
  void Choose();
  void Weigh();

  std::vector<int> Arms;
  Vector X;
  double Tolerance;
  int Current = 0, Leader = 0, Previous = -1;
  bool HasReference = false;
  double Reference = 0;
  int Zeros = 0;
  std::vector<Shape> Shapes;
  double S0 = 0;
  Vector S1, S2, W;
  Vector Regrets;
  struct Run { double Sum = 0; int Length = 0; };
 struct Sample {double X, XOld, Y, Weight;};
 std::vector<Sample> Recent; bool Odd = false; double Doubt = 1;
  Run Up, Down;
  double Mix(double a, double b) const;
  int Epoch = 0;
  int Since=0;
  std::vector<ThreadsTried> Tried;
  double NoiseVar = 0.0064;
  double LastLog = 0; bool LastSteady = false;
};

}  // namespace patchio
