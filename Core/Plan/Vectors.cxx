#include "Plan/Vectors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

namespace patchio {
namespace {

/// What the components of one vector have in common.
using Family = std::tuple<std::string, std::string, bool, Centering>;  // before, after, is u v w, where

bool IsLetter(const std::string& text, std::size_t i)
{
  return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
}

/// The same number on the staggered grid of each axis, as k-Wave names it: "rho0_sgx" is no component.
bool IsStaggered(const std::string& name)
{
  return name.size() > 4 && name.compare(name.size() - 4, 3, "_sg") == 0;
}

/// True for maxima and the like, whose components belong to different times or to no vector.
bool IsStatistic(const std::string& name)
{
  return std::any_of(name.begin(), name.end(), [&, i = std::size_t(0)](char) mutable {
    const std::size_t at = i++;
    for (const char* word : {"_max", "_min", "_rms"}) {
      if (name.compare(at, 4, word) == 0 && !IsLetter(name, at + 4)) {
        return true;
      }
    }
    return false;
  });
}

/// Adds the variable to each family that it may be of, by what its letters may mean.
void AddTo(std::map<Family, std::array<int, 3>>& families, const Variable& variable, int number)
{
  const std::string& name = variable.Name;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || !IsLetter(name, i - 1), ends = !IsLetter(name, i + 1);
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
    const bool ofPlaces = letter >= 'x' && letter <= 'z', ofSpeeds = letter >= 'u' && letter <= 'w';
    if ((!ofPlaces && !ofSpeeds) || (ofPlaces && !begins && !ends) || (ofSpeeds && !(begins && ends))) {
      continue;
    }
    // X and x are not of one vector.
    const bool upper = letter != name[i];
    const Family family{
        name.substr(0, i) + (upper ? "+" : "-"), name.substr(i + 1), ofSpeeds, variable.Center};
    families.emplace(family, std::array<int, 3>{-1, -1, -1}).first->second[letter - (ofPlaces ? 'x' : 'u')] =
        number;
  }
}

/// Without the separators that a letter leaves behind.
std::string NameOfVector(const Family& family)
{
  const auto& [before, after, ofSpeeds, center] = family;
  std::string head = before.substr(0, before.size() - 1), tail = after;
  if (ofSpeeds) {
    return head + "velocity" + tail;
  }
  const auto separates = [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); };
  if (!head.empty() && separates(head.back())) {
    head.pop_back();
  } else if (head.empty() && !tail.empty() && separates(tail.front())) {
    tail.erase(0, 1);
  }
  return head + tail;
}

}  // namespace

std::vector<ComposedVector> VectorsAmong(const Catalog& catalog, const std::vector<int>& wanted)
{
  std::map<Family, std::array<int, 3>> families;
  for (const int number : wanted) {
    const Variable& variable = catalog.Variables[number];
    if (variable.Components == 1 && variable.Material < 0 && !catalog.IsGeometry(number) &&
        !IsStatistic(variable.Name) && !IsStaggered(variable.Name)) {
      AddTo(families, variable, number);
    }
  }
  std::vector<ComposedVector> vectors;
  for (const auto& [family, components] : families) {
    const bool flat = catalog.Dimension == 2 || (catalog.Geographic && std::get<2>(family));
    const auto last = components.begin() + (flat ? 2 : 3);
    if (std::find(components.begin(), last, -1) == last && !NameOfVector(family).empty()) {
      vectors.push_back({NameOfVector(family), {components.begin(), last}});
    }
  }
  const auto isThere = [&catalog](const ComposedVector& vector) {
    const Centering center = catalog.Variables[vector.Components.front()].Center;
    return std::any_of(catalog.Variables.begin(), catalog.Variables.end(), [&](const Variable& variable) {
      return variable.Name == vector.Name && variable.Center == center &&
             (variable.Components == 3 || variable.Components == static_cast<int>(vector.Components.size()));
    });
  };
  vectors.erase(std::remove_if(vectors.begin(), vectors.end(), isThere), vectors.end());
  std::sort(vectors.begin(), vectors.end(),
      [](const ComposedVector& a, const ComposedVector& b) { return a.Components < b.Components; });
  std::set<std::string> names;
  for (ComposedVector& vector : vectors) {
    while (catalog.FindVariable(vector.Name) >= 0 || !names.insert(vector.Name).second) {
      vector.Name += '_';
    }
  }
  return vectors;
}

}  // namespace patchio
