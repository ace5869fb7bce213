# cmake -DPROGRAM=... -DDOCUMENT=... -P: fails unless every line that the program prints is a line
# of the document.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR printed STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} ended with ${status} and printed: ${printed}")
endif()
file(READ ${DOCUMENT} document)

# A semicolon would end an item of CMake's lists.
string(REPLACE ";" "," printed "${printed}")
string(REPLACE ";" "," document "${document}")
string(REGEX REPLACE "\n$" "" printed "${printed}")
string(REPLACE "\n" ";" lines "${printed}")
foreach(line IN LISTS lines)
  string(FIND "${document}" "\n${line}\n" place)
  if(place EQUAL -1)
    message(SEND_ERROR "${DOCUMENT} lacks the line that ${PROGRAM} prints: ${line}")
  endif()
endforeach()
