/** ClickHouse's HTTP server from the library that chDB installs. Python loads the library, in a process of its own. */
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answers, exists, missingTools, type ServiceDefinition } from './definition.ts';

/** Configuration file in the directory of a server that makes the server part of a cluster and sets its `tcp_port`. */
export const clusterFile = 'cluster.xml';

const variable = 'TEST_CLICKHOUSE_URL';

/** Path of `libchdb` for this machine, which npm installs beside the package `chdb`. */
const library = (): string | undefined => {
  const fromHere = createRequire(import.meta.url);
  const flavours = [`linux-${process.arch}-gnu`, `linux-${process.arch}-musl`, `darwin-${process.arch}`];
  for (const flavour of flavours) {
    try {
      const manifest = createRequire(fromHere.resolve('chdb')).resolve(`@chdb/lib-${flavour}/package.json`);
      return join(dirname(manifest), 'libchdb.so');
    } catch {
      // The package of another libc.
    }
  }
  return undefined;
};

export const clickhouse: ServiceDefinition = {
  name: 'clickhouse',
  variable,
  missing: () =>
    library() === undefined
      ? `clickhouse cannot start here: the package chdb has no library for ${process.platform} on ${process.arch} (name a running server in ${variable})`
      : missingTools('clickhouse', variable, ['python3']),
  async install() {},
  async command({ directory, port }) {
    await mkdir(directory, { recursive: true });
    const script = join(dirname(fileURLToPath(import.meta.url)), 'clickhouse.py');
    const configuration = join(directory, clusterFile);
    const args = [script, library() ?? '', join(directory, 'store'), String(port)];
    return {
      file: 'python3',
      args: (await exists(configuration)) ? [...args, configuration] : args,
      cwd: directory,
    };
  },
  url: (port) => `http://127.0.0.1:${port}`,
  ready: (port) => answers(`http://127.0.0.1:${port}/ping`),
};
