/** Services that ran where a threat occurred, and their deployments at that time. */
import type { ProjectScope } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseTime } from '../../queries/time.ts';
import { addToList } from '../../schemas/add-to-list.ts';
import { type Deployment, readDeployments } from '../services/deployments.ts';
import type { StoredThreatGroup } from './stored-threats.ts';

/** Maximum time between a deployment and the first or the latest event of a group */
const nearbyMs = 3_600_000;
const maxServices = 20;
const maxDeployments = 5;
const maxRows = 10_000;

export interface Nearby {
  readonly services: readonly string[];
  /** The newest first */
  readonly deployments: readonly Deployment[];
}

const withoutDefaultRegistry = (image: string): string => image.replace(/^(?:docker\.io\/)?(?:library\/)?/, '');

/** Returns services by pod and by image. */
const readServices = async (
  { columns }: Pick<TenantReader, 'columns'>,
  groups: readonly StoredThreatGroup[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const pods = [...new Set(groups.flatMap((group) => group.pods))].filter((name) => name !== '');
  const images = groups.map(({ latest: [, , , , , image] }) => image).filter((name) => name !== '');
  const names = [...new Set(images.flatMap((image) => [image, withoutDefaultRegistry(image)]))];
  const byPlace = new Map<string, string[]>();
  if (pods.length + names.length === 0) return byPlace;
  const rows = await columns.query<{ of: string; pod: string; image: string }>(
    `SELECT DISTINCT service AS of, attributes['k8s.pod.name'] AS pod, attributes['container.image.name'] AS image FROM resources
    WHERE tenant_id = {tenant:String} AND service != '' AND (pod IN {pods:Array(String)} OR image IN {images:Array(String)})
    ORDER BY of LIMIT ${maxRows}`,
    { pods, images: names },
  );
  for (const { of, pod, image } of rows) {
    if (pod !== '') addToList(byPlace, `pod ${pod}`, of);
    if (image !== '') addToList(byPlace, `image ${withoutDefaultRegistry(image)}`, of);
  }
  return byPlace;
};

/** Returns the reported services of a group, and those that ran in its pods, or else from its image. */
const listServices = (
  { services, pods, latest: [, , , , , image] }: StoredThreatGroup,
  byPlace: ReadonlyMap<string, readonly string[]>,
): string[] => {
  const ofPods = pods.flatMap((pod) => byPlace.get(`pod ${pod}`) ?? []);
  const found = ofPods.length > 0 ? ofPods : (byPlace.get(`image ${withoutDefaultRegistry(image)}`) ?? []);
  return [...new Set([...services, ...found])].filter((name) => name !== '').slice(0, maxServices);
};

const isNearby = ({ time }: Deployment, { first_ms, last_ms }: StoredThreatGroup): boolean => {
  const atMs = Number((parseTime(time, 0) ?? 0n) / 1_000_000n);
  return [first_ms, last_ms].some((ms) => Math.abs(atMs - Number(ms)) <= nearbyMs);
};

const toRange = (groups: readonly StoredThreatGroup[]): Range => ({
  from: BigInt(Math.min(...groups.map(({ first_ms }) => Number(first_ms))) - nearbyMs) * 1_000_000n,
  to: BigInt(Math.max(...groups.map(({ last_ms }) => Number(last_ms))) + nearbyMs) * 1_000_000n,
});

/** Returns what is nearby each group, by its id. */
export const readNearby = async (
  reader: TenantReader,
  groups: readonly StoredThreatGroup[],
  scope: ProjectScope,
): Promise<ReadonlyMap<string, Nearby>> => {
  if (groups.length === 0) return new Map();
  const byPlace = await readServices(reader, groups);
  const byGroup = new Map(groups.map((group) => [group, listServices(group, byPlace)]));
  const affected = groups.filter((group) => (byGroup.get(group) ?? []).length > 0);
  const { projectId, scope: account } = scope;
  const { deployments } =
    affected.length === 0
      ? { deployments: [] }
      : await readDeployments(reader, { range: toRange(affected), projectId, scope: account });
  return new Map(
    Array.from(byGroup, ([group, services]) => [
      group.id,
      {
        services,
        deployments: deployments
          .filter((deployment) => services.includes(deployment.service) && isNearby(deployment, group))
          .slice(0, maxDeployments),
      },
    ]),
  );
};
