# Writes the text of INPUT as a C array SYMBOL into OUTPUT.  Lines of #include "..." become empty: who compiles the text puts the texts together.
file(READ ${INPUT} text)
string(REGEX REPLACE "(^|\n)[ \t]*#[ \t]*include[ \t]*\"[^\n]*" "\\1" text "${text}")
string(HEX "${text}" bytes)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {\n${bytes}0};\n")
