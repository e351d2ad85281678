/** The requests of `infrastructure.ts`: every list and detail of the groups, without the time range. */

export interface Question {
  readonly name: string;
  readonly path: string;
}

/** Requests for existing resources: the IDs of a host and a pod are read from their lists. */
export const questionsOf = async (
  get: (path: string) => Promise<string>,
  toMs: number,
): Promise<readonly Question[]> => {
  const range = `from=${toMs - 3_600_000}&to=${toMs}&limit=1`;
  const firstId = async (list: string): Promise<string> => {
    const { items } = JSON.parse(await get(`${list}?${range}`)) as { items: readonly { id: string }[] };
    if (items[0] === undefined) throw new Error(`${list} is empty`);
    return encodeURIComponent(items[0].id);
  };
  const host = await firstId('/api/infrastructure/hosts');
  const pod = await firstId('/api/kubernetes/pods');
  return [
    ['hosts', '/api/infrastructure/hosts'],
    ['one host', `/api/infrastructure/hosts/${host}`],
    ['series of one host', `/api/infrastructure/hosts/${host}/timeseries`],
    ['processes', '/api/infrastructure/processes'],
    ['compute', '/api/infrastructure/compute'],
    ['disks', '/api/infrastructure/disks'],
    ['clusters', '/api/kubernetes/clusters'],
    ['namespaces', '/api/kubernetes/namespaces'],
    ['nodes', '/api/kubernetes/nodes'],
    ['workloads', '/api/kubernetes/workloads'],
    ['pods', '/api/kubernetes/pods'],
    ['one pod', `/api/kubernetes/pods/${pod}`],
    ['containers', '/api/kubernetes/containers'],
    ['events of clusters', '/api/kubernetes/events'],
    ['databases', '/api/databases'],
    ['engines', '/api/databases/engines'],
    ['one engine', '/api/databases/postgresql'],
    ['calls of an engine over time', '/api/databases/postgresql/timeseries'],
    ['a figure of an engine over time', '/api/databases/postgresql/timeseries?figure=cacheHitRatio'],
    ['statements', '/api/databases/queries'],
    ['flows', '/api/network/flows'],
    ['flows by address', '/api/network/flows?by=address'],
    ['topology', '/api/network/topology'],
    ['DNS', '/api/network/dns'],
  ].map(([name = '', path = '']) => ({ name, path }));
};
