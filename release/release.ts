/**
 * `npm run release -- VERSION`: prepares a release in `dist/` and publishes nothing. The steps are in the README.
 */
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chartTools } from '../test/services/chart-tools.ts';
import { programOf } from '../test/services/definition.ts';
import { readReleaseNotes, setVersion, versionFiles } from './version.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

const readFile = (path: string): string => readFileSync(join(root, path), 'utf8');

const fail = (message: string): never => {
  process.stderr.write(`release: ${message}\n`);
  process.exit(1);
};

const git = async (...args: readonly string[]): Promise<string> =>
  (await run('git', args, { cwd: root, maxBuffer: 2 ** 26 })).stdout.trim();

/** An SBOM (CycloneDX) of what runs: packages of development are left out. */
const createSbom = async (): Promise<string> =>
  (await run('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev'], { cwd: root, maxBuffer: 2 ** 28 })).stdout;

/** An in-toto statement that names commit and builder (SLSA provenance 1.0). */
const createProvenance = async (names: readonly string[]): Promise<string> =>
  JSON.stringify({
    _type: 'https://in-toto.io/Statement/v1',
    subject: names.map((name) => ({ name, digest: { sha256: hash('sha256', readFileSync(join(dist, name))) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'release/README.md',
        externalParameters: { commit: await git('rev-parse', 'HEAD') },
      },
      runDetails: { builder: { id: process.env['RELEASE_BUILDER_ID'] ?? 'local' } },
    },
  });

const [version = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) fail('give a version, such as 0.2.0: npm run release -- 0.2.0');
const notes =
  readReleaseNotes(readFile('CHANGELOG.md'), version) ?? fail(`CHANGELOG.md has no section "## ${version}"`);
const isClean = (await git('status', '--porcelain', '--untracked-files=no')) === '';

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const file of versionFiles) writeFileSync(join(root, file.path), setVersion(file, readFile(file.path), version));
await git(
  'archive',
  '--format=tar.gz',
  `--prefix=oiq-${version}/`,
  `--output=${join(dist, `oiq-${version}.tar.gz`)}`,
  'HEAD',
);
writeFileSync(join(dist, `oiq-${version}.sbom.cdx.json`), await createSbom());
const { helm } = await chartTools();
await run(helm, ['package', 'charts/oiq', '--destination', dist], { cwd: root });
writeFileSync(join(dist, 'release-notes.md'), notes);
const artifacts = readdirSync(dist).toSorted();
writeFileSync(join(dist, 'provenance.intoto.json'), await createProvenance(artifacts));
writeFileSync(
  join(dist, 'SHA256SUMS'),
  [...artifacts, 'provenance.intoto.json']
    .map((name) => `${hash('sha256', readFileSync(join(dist, name)))}  ${name}\n`)
    .join(''),
);
if (programOf('cosign') !== undefined && process.env['RELEASE_SIGN'] === 'true')
  await run('cosign', [
    'sign-blob',
    '--yes',
    '--bundle',
    join(dist, 'SHA256SUMS.sigstore.json'),
    join(dist, 'SHA256SUMS'),
  ]);

console.log(
  `Prepared ${version} in dist/:\n${readdirSync(dist)
    .map((name) => `  ${name}`)
    .join('\n')}`,
);
if (!isClean) console.log('The working copy has changes that the archive does not contain: commit them first.');
console.log(`
Next:
  git commit --all --message "Release ${version}" && git tag v${version}
  docker build -t REGISTRY/oiq:${version} . && docker push REGISTRY/oiq:${version}
  helm push dist/oiq-${version}.tgz oci://REGISTRY/charts`);
