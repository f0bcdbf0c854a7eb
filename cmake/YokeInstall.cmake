# What `cmake --install` puts where.
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/yoke)

install(DIRECTORY include/yoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES include/yoke_fmm.h include/yoke_fmm.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS yoke_shared yoke_static yoke_fmm_shared yoke_fmm_static EXPORT yokeTargets)
install(TARGETS yoke_tool)
# A program that links libyoke.a (or libyoke_fmm.a) may have functions of its own with the names of ours: what is not public becomes local to one object.
foreach(name yoke yoke_fmm)
    install(CODE "
        set(archive \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${name}.a\")
        execute_process(COMMAND ${CMAKE_LINKER} -r --whole-archive \${archive} -o \${archive}.o COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${CMAKE_OBJCOPY} --localize-hidden \${archive}.o COMMAND_ERROR_IS_FATAL ANY)
        file(REMOVE \${archive})
        execute_process(COMMAND ${CMAKE_AR} rcs \${archive} \${archive}.o COMMAND_ERROR_IS_FATAL ANY)
        file(REMOVE \${archive}.o)")
endforeach()
install(EXPORT yokeTargets NAMESPACE yoke:: DESTINATION ${package_directory})

configure_package_config_file(cmake/yokeConfig.cmake.in yokeConfig.cmake INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(yokeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yokeConfig.cmake ${PROJECT_BINARY_DIR}/yokeConfigVersion.cmake cmake/YokeEmbedText.cmake cmake/embed-text.cmake DESTINATION ${package_directory})

# Relative to the .pc file, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
foreach(name yoke yoke-static yoke_fmm yoke_fmm-static)
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Manual pages of the commands, and completion, are made from what the commands print.
find_package(Python3 COMPONENTS Interpreter)
set(manuals ${PROJECT_BINARY_DIR}/manuals)
if(Python3_Interpreter_FOUND AND NOT YOKE_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    add_custom_command(OUTPUT ${manuals}/yoke.bash
        COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/make-manuals $<TARGET_FILE:yoke_tool> ${manuals}
        DEPENDS yoke_tool yoke_reproduce yoke_fmm yoke_dense $<$<TARGET_EXISTS:yoke_fem>:yoke_fem> tools/make-manuals COMMENT "Making manual pages" VERBATIM)
    add_custom_target(manuals ALL DEPENDS ${manuals}/yoke.bash)
    install(DIRECTORY ${manuals}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
    install(FILES ${manuals}/yoke.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME yoke)
else()
    message(STATUS "Without Python 3 there is one manual page, and no completion")
endif()

install(FILES docs/man/yoke.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md LICENSE LICENSES.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(YOKE_FEM)
    install(FILES apps/fem/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}/apps/fem)
endif()
install(FILES docs/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY docs/guide docs/reference docs/methods docs/notes docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
