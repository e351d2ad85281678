/** The part of a Kubernetes API server that Helm's `lookup` uses for Secrets and Deployments. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { kubernetesVersion, type Manifest } from './chart.ts';

const resource = (name: string, kind: string) => ({ name, kind, namespaced: true, verbs: ['get', 'list'] });
const group = { name: 'apps', versions: [{ groupVersion: 'apps/v1', version: 'v1' }] };

/** The responses to discovery requests, which list API groups and kinds. */
const discovery: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '33', gitVersion: `v${kubernetesVersion}` },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] },
  '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [resource('secrets', 'Secret')] },
  '/apis/apps/v1': {
    kind: 'APIResourceList',
    groupVersion: 'apps/v1',
    resources: [resource('deployments', 'Deployment')],
  },
};

const pathOf = ({ apiVersion, kind, metadata }: Manifest): string =>
  `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/observability/${String(kind).toLowerCase()}s/${metadata.name}`;

/** Serves these objects to `helm template`; returns the arguments that connect helm to the server. */
export const servedObjects = async (
  t: ExecutionContext,
  directory: string,
  objects: readonly Manifest[],
): Promise<readonly string[]> => {
  const responses = new Map([
    ...Object.entries(discovery),
    ...objects.map((object) => [pathOf(object), object as object] as const),
  ]);
  const server = createServer(({ url = '' }, response) => {
    const found = responses.get(url.split('?', 1)[0] ?? '');
    const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? missing));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const config = join(directory, `kubeconfig-${(server.address() as AddressInfo).port}`);
  const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      users: [{ name: 'test', user: {} }],
      'current-context': 'test',
    }),
  );
  return ['--dry-run=server', '--kubeconfig', config];
};
