"""Usage: clickhouse.py LIBRARY DIRECTORY HTTP_PORT [CONFIG_FILE].

Serves ClickHouse's HTTP interface until SIGTERM or SIGINT; with a configuration also that of servers among each other,
at its `tcp_port`.
"""

import ctypes
import os
import signal
import sys
import threading

library, directory, port = sys.argv[1:4]
configuration = sys.argv[4:5]
os.makedirs(directory, exist_ok=True)

# The listener lives as long as the query below reads standard input. A pipe of our own keeps it open without a parent;
# closing its other end on a signal ends the query, and with it the engine, in good order.
reader, writer = os.pipe()
os.dup2(reader, 0)
ending = {signal.SIGTERM, signal.SIGINT}
signal.pthread_sigmask(signal.SIG_BLOCK, ending)


def close_on_signal():
    signal.sigwait(ending)
    os.close(writer)


threading.Thread(target=close_on_signal, daemon=True).start()

engine = ctypes.CDLL(library)
engine.chdb_query_cmdline.restype = ctypes.c_void_p
engine.chdb_result_error.restype = ctypes.c_char_p
engine.chdb_result_error.argtypes = [ctypes.c_void_p]
arguments = [
    "clickhouse",
    f"--path={directory}",
    f"--http_port={port}",
    "--listen_host=127.0.0.1",
    *(f"--config-file={file}" for file in configuration),
    "--query",
    "SYSTEM START LISTEN HTTP; "
    + ("SYSTEM START LISTEN TCP; " if configuration else "")
    + "SELECT count() FROM file('-', 'LineAsString')",
]
encoded = [argument.encode() for argument in arguments]
result = engine.chdb_query_cmdline(len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
error = engine.chdb_result_error(result)
if error:
    print(error.decode(), file=sys.stderr)
os._exit(1 if error else 0)
