/** Renders the chart with helm for tests. */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { chartTools } from '../../services/chart-tools.ts';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));

export const chart = fileURLToPath(new URL('../../../charts/oiq', import.meta.url));
export const kubernetesVersion = '1.33.4';

/** Value sets by name, with their files. */
export const valueSets: ReadonlyMap<string, string> = new Map(
  globSync(join(here, 'values/*.yaml'))
    .sort()
    .map((path) => [basename(path, '.yaml'), path]),
);

export const goldenOf = (name: string): string => join(here, 'golden', `${name}.yaml`);

// biome-ignore lint/suspicious/noExplicitAny: an object of Kubernetes, tests read only some of its paths
export type Manifest = any;

export interface Rendered {
  readonly text: string;
  readonly manifests: readonly Manifest[];
}

/** A copy of the chart with its own components and version, so that additions to the code change no golden file. */
export const pinnedChart = (directory: string): string => {
  const copy = join(directory, 'oiq');
  cpSync(chart, copy, { recursive: true });
  copyFileSync(join(here, 'components.json'), join(copy, 'files/components.json'));
  const declared = readChart('Chart.yaml').replaceAll(/^(version|appVersion): .*$/gm, '$1: 1.2.3');
  writeFileSync(join(copy, 'Chart.yaml'), declared);
  return copy;
};

/** Returns the output of `helm template`; rejects with the error message of helm. */
export const render = async (args: readonly string[], of = chart): Promise<Rendered> => {
  const { helm } = await chartTools();
  const all = ['template', 'oiq', of, '--namespace', 'observability', '--kube-version', kubernetesVersion, ...args];
  const { stdout } = await run(helm, all, { maxBuffer: 16 * 1024 * 1024 });
  const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
  return { text: stdout, manifests: manifests.filter((manifest) => manifest !== null) };
};

export const renderSet = (name: string, args: readonly string[] = [], of = chart): Promise<Rendered> =>
  render(['-f', valueSets.get(name) ?? '', ...args], of);

/** Replaces generated secrets in a text, because each installation has different ones. */
export const withoutMade = (text: string): string =>
  text.replaceAll(/(OIQ_(?:SECRET_KEY|BOOTSTRAP_PASSWORD): )[A-Za-z0-9+/=]{56}$/gm, '$1MADE');

export const podOf = (manifest: Manifest): Manifest =>
  manifest.kind === 'Pod' ? manifest.spec : manifest.spec?.template?.spec;

/** All pods that the chart creates, each with the object that creates it. */
export const podsOf = (manifests: readonly Manifest[]): readonly { readonly name: string; readonly pod: Manifest }[] =>
  manifests
    .map((manifest) => ({ name: `${manifest.kind} ${manifest.metadata.name}`, pod: podOf(manifest) }))
    .filter(({ pod }) => pod !== undefined);

export const find = (manifests: readonly Manifest[], kind: string, name: string): Manifest =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);

/** The environment of a pod's first container, as the kubelet would set it. */
export const environmentOf = (manifests: readonly Manifest[], pod: Manifest): Record<string, string> => {
  const [container] = pod.containers;
  const environment: Record<string, string> = {};
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef !== undefined) Object.assign(environment, find(manifests, 'ConfigMap', configMapRef.name)?.data);
    for (const [key, value] of Object.entries(find(manifests, 'Secret', secretRef?.name)?.data ?? {}))
      environment[key] = Buffer.from(String(value), 'base64').toString();
  }
  for (const { name, value } of container.env ?? []) environment[name] = value;
  return environment;
};

export const readChart = (path: string): string => readFileSync(join(chart, path), 'utf8');
