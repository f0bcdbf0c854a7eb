# yoke_embed_text(<target> <file> <symbol>)
#
# Adds `const char <symbol>[]` with the text of <file> to <target>, without its lines of #include "..."; made again whenever the file changes.
# It is for device code in the dialect of yoke/dialect.h, which devices compile when it is needed.
set(yoke_embed_script ${CMAKE_CURRENT_LIST_DIR}/embed-text.cmake)
function(yoke_embed_text target file symbol)
    get_filename_component(path ${file} ABSOLUTE)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/${target}-${symbol}.c)
    add_custom_command(OUTPUT ${made}
        COMMAND ${CMAKE_COMMAND} -DINPUT=${path} -DOUTPUT=${made} -DSYMBOL=${symbol} -P ${yoke_embed_script}
        DEPENDS ${path} ${yoke_embed_script} COMMENT "Embedding ${file}" VERBATIM)
    target_sources(${target} PRIVATE ${made})
endfunction()
