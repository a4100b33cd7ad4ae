/* Lets the VTK of ParaView 5.11 read XML files with appended raw data if libexpat has the fix of
 * CVE-2023-52425 (Debian 12 since 2.5.0-1+deb12u2, Ubuntu 24.04). Such a libexpat delays parsing the tag
 * before the data, so that VTK parses the data as XML. VTK since 9.3.1 turns this delay off. pvbatch.sh
 * preloads this library. */
#define _GNU_SOURCE
#include <dlfcn.h>

typedef void* XML_Parser;

XML_Parser XML_ParserCreate(const char* encoding)
{
  XML_Parser (*create)(const char*) = (XML_Parser(*)(const char*))dlsym(RTLD_NEXT, "XML_ParserCreate");
  unsigned char (*defer)(XML_Parser, unsigned char) =
      (unsigned char (*)(XML_Parser, unsigned char))dlsym(RTLD_NEXT, "XML_SetReparseDeferralEnabled");
  XML_Parser parser = create(encoding);
  if (parser && defer) {
    defer(parser, 0);
  }
  return parser;
}
