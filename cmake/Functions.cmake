# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Flags and includes of one target. Code that links LLVM follows its rules (no
# exceptions, no RTTI); the run-time library, marked RUNTIME, sees no LLVM.
function(tp_configure_target name runtime)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                            ${PROJECT_BINARY_DIR}/include)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  if(NOT runtime)
    target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS}
                                                     ${MLIR_INCLUDE_DIRS})
    target_compile_definitions(${name} PRIVATE ${LLVM_DEFINITIONS_LIST})
    target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
    add_dependencies(${name} TPIRIncGen TPPassesIncGen)
  endif()
endfunction()

# tp_library(NAME source... [RUNTIME] [LIBS library...] [DEPENDS target...])
function(tp_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RUNTIME" "" "LIBS;DEPENDS")
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  tp_configure_target(${name} ${ARG_RUNTIME})
  target_link_libraries(${name} PUBLIC ${ARG_LIBS})
  if(NOT ARG_RUNTIME)
    # The shared libraries and nothing else: a static archive next to them
    # would put two copies of MLIR into one process.
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# tp_tool(NAME source... [RUNTIME] [LIBS library...]): a program in build/bin.
function(tp_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RUNTIME" "" "LIBS")
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  tp_configure_target(${name} ${ARG_RUNTIME})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  if(NOT ARG_RUNTIME)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

# tp_add_unittest(NAME source... [RUNTIME] [LIBS library...]): one GoogleTest
# binary, one ctest entry.
function(tp_add_unittest name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "RUNTIME" "" "LIBS")
  set(runtime)
  if(ARG_RUNTIME)
    set(runtime RUNTIME)
  endif()
  tp_tool(${name} ${ARG_UNPARSED_ARGUMENTS} ${runtime}
          LIBS ${ARG_LIBS} GTest::gtest_main Threads::Threads)
  target_compile_definitions(${name} PRIVATE
    TP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  tp_test_environment(${name})
endfunction()

# Settings under which every test runs. MLIR and LLVM are not instrumented:
# their vectors and arenas must not be held to the annotations of ours.
function(tp_test_environment)
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT 600 ENVIRONMENT
    "ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0;UBSAN_OPTIONS=print_stacktrace=1;PYTHONDONTWRITEBYTECODE=1")
endfunction()
