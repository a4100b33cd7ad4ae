// What the user wants of the metadata channel.
#pragma once

namespace patchio {

/// What is done with the sidecars that keep metadata beside the data.
enum class ChannelMode
{
  Off,      ///< neither read nor written; the format says where bytes lie, each time
  On,       ///< read where there is a sound one; written after an index was built
  Rebuild,  ///< not read, but written
  ReadOnly  ///< read where there is a sound one; never written, no index is built
};

constexpr bool ReadsSidecars(ChannelMode mode)
{
  return mode == ChannelMode::On || mode == ChannelMode::ReadOnly;
}
constexpr bool WritesSidecars(ChannelMode mode)
{
  return mode == ChannelMode::On || mode == ChannelMode::Rebuild;
}

}  // namespace patchio
