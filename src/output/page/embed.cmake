# SPDX-License-Identifier: MIT
# Puts page.html, its style, its scripts and dygraphs together and writes them as two arrays, of what
# comes before the data and after it.
#   cmake -DPAGE=DIR -DDYGRAPHS=DIR -DVERSION=V -DSCRIPTS=a.js,b.js -DOUTPUT=FILE -P embed.cmake
cmake_minimum_required(VERSION 3.25)

# As hexadecimal digits: CMake's own strings do not leave brackets and semicolons alone.
function(read_hex path ret)
	file(READ "${path}" hex HEX)
	string(TOLOWER "${hex}" hex)
	set(${ret} "${hex}" PARENT_SCOPE)
endfunction()

function(replace_marker marker hex)
	string(HEX "${marker}" marker_hex)
	string(REPLACE "${marker_hex}" "${hex}" page "${page}")
	set(page "${page}" PARENT_SCOPE)
endfunction()

function(write_array name hex)
	string(REPEAT "." 40 line)
	string(REGEX REPLACE "(${line})" "\\1\n" bytes "${hex}")
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	file(APPEND "${OUTPUT}" "const unsigned char ${name}[] = {\n${bytes}\n};\n"
		"const size_t ${name}_bytes = sizeof(${name});\n")
endfunction()

read_hex("${PAGE}/page.html" page)
read_hex("${PAGE}/page.css" css)
read_hex("${DYGRAPHS}/dygraph.min.css" dygraph_css)
read_hex("${DYGRAPHS}/dygraph.min.js" dygraph_js)
string(REPLACE "," ";" scripts "${SCRIPTS}")
foreach(script ${scripts})
	read_hex("${PAGE}/${script}" hex)
	string(APPEND js "${hex}")
endforeach()
# "</script" and "<!--" would end a script early or hide its end.
foreach(text "${js}" "${dygraph_js}")
	if(text MATCHES "3c2f736372697074" OR text MATCHES "3c212d2d")
		message(FATAL_ERROR "a script of the page has </script or <!-- in it")
	endif()
endforeach()
string(HEX "${VERSION}" version)
replace_marker("@BLKBOX_VERSION@" "${version}")
replace_marker("@DYGRAPH_CSS@" "${dygraph_css}")
replace_marker("@DYGRAPH_JS@" "${dygraph_js}")
replace_marker("@PAGE_CSS@" "${css}")
replace_marker("@PAGE_JS@" "${js}")
string(HEX "@DATA@" data)
string(FIND "${page}" "${data}" at)
string(LENGTH "${data}" length)
math(EXPR behind "${at} + ${length}")
string(SUBSTRING "${page}" 0 ${at} head)
string(SUBSTRING "${page}" ${behind} -1 tail)

file(WRITE "${OUTPUT}" "/* Made by embed.cmake. */\n#include \"page_parts.h\"\n\n")
write_array(page_head "${head}")
write_array(page_tail "${tail}")
