#include "Storage/ThreadController.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace patchio {
ThreadController::Tune ThreadController::T;
namespace {
constexpr double Rises[] = {1, 0.6};
constexpr double Falls[] = {0, 0.125, 0.25, 0.5, 0.75, 1};
constexpr double Sharp[] = {0.5, 1, 2, 12};
constexpr int Fine = 48, Span = 12;

struct Tables
{
  std::vector<std::vector<float>> Of;
  Tables()
  {
    for (double u : Rises)
      for (double d : Falls)
        for (double k : Sharp) {
          std::vector<float> t;
          for (int i = -Span * Fine; i <= Span * Fine; ++i) {
            const double x = i / double(Fine) * std::log(2.0);
            t.push_back(-std::log(std::exp(-u * k * x) + std::exp(d * k * x)) / k);
          }
          this->Of.push_back(t);
        }
  }
};
const Tables& AllTables()
{
  static const Tables tables;
  return tables;
}

}  // namespace

ThreadController::ThreadController(const ControllerOptions& options) : Tolerance(options.Tolerance)
{
  this->MakeArms(options);
  const auto start = std::lower_bound(this->Arms.begin(), this->Arms.end(), options.Start);
  this->Current = start == this->Arms.end() ? this->Arms.size() - 1 : start - this->Arms.begin();
  this->Leader = this->Current;
  this->MakeShapes();
  this->Restart();
}

void ThreadController::MakeArms(const ControllerOptions& options)
{
  const int g = std::max(1, options.Granularity);
  const int least = std::max(1, (options.Least + g - 1) / g);
  const int most = std::max(least, options.Most / g);
  const int start = std::clamp((options.Start + g / 2) / g, least, most);
  std::vector<int> n;
  for (int k = -150; k <= 150; ++k) {
    const double v = start * std::exp2(k / T.Steps);
    if (v < 1e9) n.push_back(std::clamp(static_cast<int>(std::lround(v)), least, most));
  }
  std::sort(n.begin(), n.end());
  n.erase(std::unique(n.begin(), n.end()), n.end());
  for (int v : n) {
    this->Arms.push_back(v * g);
    this->X.push_back(std::log2(v * g));
  }
}

double ThreadController::Mix(double a, double b) const
{
  return std::max(a, b) + std::log((1 + std::exp(-std::abs(a - b))) / 2);
}

double ThreadController::Value(const Shape& s, double x) const
{
  const double at = (x - s.Knee) * Fine + Span * Fine + 0.5;
  const auto& t = AllTables().Of[s.Table];
  return t[std::clamp(int(at), 0, int(t.size()) - 1)];
}

void ThreadController::MakeShapes()
{
  const int n = this->Arms.size();
  for (double knee = this->X.front() - 1; knee <= this->X.back() + 1; knee += 1 / T.Steps) {
    for (size_t t = 0; t < AllTables().Of.size(); ++t) {
      Shape s{int(t), knee, 0, 0};
      Vector v(n);
      for (int a = 0; a < n; ++a) v[a] = this->Value(s, this->X[a]);
      const double most = *std::max_element(v.begin(), v.end());
      s.Best = most;
      int best = 0;
      while (v[best] < most - this->Tolerance) ++best;
      const double off = this->X[best] - this->X[this->Current];
      s.Prior = -off * off / (2 * T.PriorSd * T.PriorSd);
      this->Shapes.push_back(s);
    }
  }
  this->W.resize(this->Shapes.size());
}

void ThreadController::Restart()
{
  this->S0 = 0;
  this->S1.assign(this->Shapes.size(), 0);
  this->S2.assign(this->Shapes.size(), 0);
}

double ThreadController::WindowSeconds() const
{
  return this->Since < T.Early ? 0.25 : T.Win;
}

void ThreadController::Weigh()
{
  double most = -1e300;
  const double var = this->NoiseVar / T.Temper;
  for (size_t h = 0; h < this->Shapes.size(); ++h) {
    const double s = this->S0 > 0 ? (this->S2[h] - this->S1[h] * this->S1[h] / this->S0) / var : 0;
    this->W[h] = this->Shapes[h].Prior - s / 2;
    most = std::max(most, this->W[h]);
  }
  double sum = 0;
  for (double& w : this->W) {
    w = w > most - 14 ? std::exp(w - most) : 0;
    sum += w;
  }
  for (double& w : this->W) w /= sum;
}

void ThreadController::Observe(double rate, int threads)
{
  if (!std::isfinite(rate) || rate < 0 || threads < 1) return;
  if (rate == 0) {
    ++this->Zeros;
    return;
  }
  rate /= 1 + this->Zeros;
  this->Zeros = 0;
  const int m = this->Shapes.size();
  const double y = std::log(rate);
  const double x = std::log2(threads);
  const bool mixed = this->Previous > 0 && this->Previous != threads;
  const double xOld = mixed ? std::log2(this->Previous) : x;
  if (!mixed && this->LastSteady) {
    const double d = y - this->LastLog;
    this->NoiseVar += T.Adapt * (std::min(d * d / 2, 9 * this->NoiseVar) - this->NoiseVar);
    this->NoiseVar = std::max(this->NoiseVar, 4e-4);
  }
  this->LastSteady = !mixed;
  this->LastLog = y;
  this->Previous = threads;
  double weight = mixed ? this->NoiseVar / (this->NoiseVar + T.MixVar * T.MixVar) : 1;
  weight *= WindowSeconds() < 0.5 ? WindowSeconds() / 0.5 : 1;
  const Sample sample{x, xOld, y, weight};
  Vector g;
  const auto predict = [&](const Sample& q) {
    g.resize(m);
    for (int h = 0; h < m; ++h) {
      g[h] = this->Value(this->Shapes[h], q.X);
      if (q.X != q.XOld) g[h] = this->Mix(g[h], this->Value(this->Shapes[h], q.XOld));
    }
  };
  const auto take = [&](const Sample& q) {
    predict(q);
    this->S0 += q.Weight;
    for (int h = 0; h < m; ++h) {
      const double r = q.Y - g[h];
      this->S1[h] += q.Weight * r;
      this->S2[h] += q.Weight * r * r;
    }
  };
  double z = 0;
  if (this->S0 > 0) {
    predict(sample);
    double mean = 0, square = 0;
    for (int h = 0; h < m; ++h) {
      if (this->W[h] == 0) continue;
      const double e = this->S1[h] / this->S0 + g[h];
      mean += this->W[h] * (e - y);
      square += this->W[h] * (e - y) * (e - y);
    }
    const double var = std::max(0.0, square - mean * mean) + this->NoiseVar * (1 / weight + 1 / this->S0) + T.Miss*T.Miss;
    z = -mean / std::sqrt(var);
  }
  this->S0 *= T.Forget;
  for (double& s : this->S1) s *= T.Forget;
  for (double& s : this->S2) s *= T.Forget;
  const auto sum = [&](Run& run, double step) {
    run.Sum += std::clamp(step, -3.0, 3.0) - T.CusK;
    ++run.Length;
    if (run.Sum <= 0) run = {};
    return run.Sum > T.Cus;
  };
  const bool up = sum(this->Up, z), down = sum(this->Down, -z);
  this->Recent.push_back(sample);
  if (this->Recent.size() > 12) this->Recent.erase(this->Recent.begin());
  const auto restart = [&](int keep) {
    ++this->Epoch;
    this->Since = 0;
    this->Restart();
    this->Up = this->Down = {};
    keep = std::min<int>(keep, this->Recent.size());
    this->Recent.erase(this->Recent.begin(), this->Recent.end() - keep);
    for (const auto& q : this->Recent) take(q);
    for (Shape& s : this->Shapes) s.Prior *= T.Relax;
  };
  if (up || down) {
    restart(up ? this->Up.Length : this->Down.Length);
  } else if (std::abs(z) > T.Z1 && !this->Odd) {
    this->Odd = true;
  } else {
    if (this->Odd) take(this->Recent[this->Recent.size() - 2]);
    this->Odd = false;
    take(sample);
    double least = 1e300;
    for (int h = 0; h < m; ++h) least = std::min(least, this->S2[h] - this->S1[h] * this->S1[h] / this->S0);
    if (least / this->NoiseVar > this->Doubt * (this->S0 + T.Gof * std::sqrt(2 * this->S0) + T.Gof2)) {
      restart(T.Keep);
      this->Doubt *= T.DoubtF;
    }
  }
  if (!mixed) {
      auto it = std::find_if(this->Tried.begin(), this->Tried.end(),
          [&](const ThreadsTried& t) { return t.Threads == threads && t.Epoch == this->Epoch; });
      if (it == this->Tried.end()) it = this->Tried.insert(it, ThreadsTried{threads, 0, 0, this->Epoch});
      ++it->Samples;
      it->Rate += (rate - it->Rate) / it->Samples;
  }
  ++this->Since;
  this->Choose();
}

void ThreadController::Choose()
{
  this->Weigh();
  const int n = this->Arms.size();
  const int m = this->Shapes.size();
  Vector regret(n, 0.0), mean(n, 0.0), square(n, 0.0);
  for (int h = 0; h < m; ++h) {
    if (this->W[h] < 1e-5) continue;
    const double level = this->S0 > 0 ? this->S1[h] / this->S0 - (LastLog) : 0;
    for (int a = 0; a < n; ++a) {
      const double v = this->Value(this->Shapes[h], this->X[a]);
      regret[a] += this->W[h] * (1-std::exp(v-this->Shapes[h].Best));
      mean[a] += this->W[h] * (level + v);
      square[a] += this->W[h] * (level + v) * (level + v);
    }
  }
  const double least = *std::min_element(regret.begin(), regret.end());
  int leader = 0;
  while (regret[leader] > least + this->Tolerance) ++leader;
  this->Leader = leader;
  const int now = this->Current;
  int best = leader;
  double most = -1e300;
  for (int a = 0; a < n; ++a) {
    if (std::abs(this->X[a] - this->X[now]) > T.Reach && a != leader) continue;
    const double var = std::max(0.0, square[a] - mean[a] * mean[a]);
    const double resolved = var / (var + this->NoiseVar / T.Look);
    const double loss = std::max(0.0, regret[a] - regret[leader]);
    const double v = T.H * least * resolved - T.Look * loss - (a == now ? 0 : T.Sw * loss) + (a == leader ? 1e-9 : 0);
    if (v > most) { most = v; best = a; }
  }
  this->Current = best;
}

}  // namespace patchio
