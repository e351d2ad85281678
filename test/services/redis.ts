/** Redis from the packages of the distribution, unpacked and not installed: no daemon, no change to the system. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, exists, installInto, missingTools, probe, programOf, type ServiceDefinition } from './definition.ts';

const variable = 'TEST_REDIS_URL';
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'];

const missing = (): string | undefined =>
  programOf('redis-server') === undefined ? missingTools('redis', variable, ['apt-get', 'dpkg-deb']) : undefined;

const download = async (folder: string): Promise<void> => {
  const root = process.getuid?.() === 0;
  const args = ['download', ...(root ? ['-o', 'APT::Sandbox::User=root'] : []), ...packages];
  try {
    await execute('apt-get', args, { cwd: folder });
  } catch (error) {
    // A new machine has no package lists, and only root can download them.
    if (!root)
      throw new Error(
        `redis cannot be downloaded: run "apt-get update" as root once, put redis-server on the PATH, or name a running server in ${variable}`,
        { cause: error },
      );
    await execute('apt-get', ['update']);
    await execute('apt-get', args, { cwd: folder });
  }
};

/** Directory of the unpacked libraries, for any machine architecture. */
const libraries = async (root: string): Promise<string> => {
  const folder = join(root, 'redis', 'x', 'usr', 'lib');
  const entries = await readdir(folder);
  return join(folder, entries.find((entry) => entry.endsWith('-linux-gnu')) ?? '');
};

export const redis: ServiceDefinition = {
  name: 'redis',
  variable,
  missing,
  async install(root) {
    if (programOf('redis-server') !== undefined) return;
    await installInto(join(root, 'redis'), async (folder) => {
      await download(folder);
      for (const file of await readdir(folder))
        if (file.endsWith('.deb')) await execute('dpkg-deb', ['-x', join(folder, file), join(folder, 'x')]);
    });
  },
  async command({ root, directory, port }) {
    await mkdir(directory, { recursive: true });
    // A test may write additional settings here: those of a server of a group, or the whole configuration of a
    // sentinel.
    const [more, sentinel] = [join(directory, 'more.conf'), join(directory, 'sentinel.conf')];
    const serverArgs = [
      ...((await exists(more)) ? [more] : []),
      '--bind',
      '127.0.0.1',
      '--port',
      String(port),
      '--dir',
      directory,
      '--save',
      '',
      '--appendonly',
      'no',
    ];
    const args = (await exists(sentinel)) ? [sentinel, '--sentinel', '--port', String(port)] : serverArgs;
    const installed = programOf('redis-server');
    if (installed !== undefined) return { file: installed, args };
    return {
      file: join(root, 'redis', 'x', 'usr', 'bin', 'redis-server'),
      args,
      env: { LD_LIBRARY_PATH: await libraries(root) },
    };
  },
  url: (port) => `redis://127.0.0.1:${port}`,
  ready: (port) => probe(port, Buffer.from('PING\r\n'), (response) => /^(?:\+PONG|-NOAUTH)/.test(response.toString())),
};
