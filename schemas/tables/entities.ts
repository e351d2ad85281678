import { buildFirstAttributeSql } from './literal.ts';
import { identityKeySettings } from './parts.ts';
import { defineTable, type MaterializedView } from './table.ts';

/**
 * Kinds of entities in resources. Each has the attributes that identify it (the first one present) and the attributes
 * that name it.
 */
const entityKinds = [
  { kind: 'service', id: ['service.name'], name: ['service.name'], within: 'service.namespace' },
  { kind: 'host', id: ['host.id', 'host.name'], name: ['host.name'], within: undefined },
  { kind: 'pod', id: ['k8s.pod.uid', 'k8s.pod.name'], name: ['k8s.pod.name'], within: 'k8s.namespace.name' },
  { kind: 'container', id: ['container.id'], name: ['container.name', 'k8s.container.name'], within: undefined },
  { kind: 'process', id: ['process.pid'], name: ['process.executable.name', 'process.command'], within: 'host.name' },
  { kind: 'node', id: ['k8s.node.uid', 'k8s.node.name'], name: ['k8s.node.name'], within: undefined },
  { kind: 'namespace', id: ['k8s.namespace.name'], name: ['k8s.namespace.name'], within: 'k8s.cluster.name' },
  { kind: 'cluster', id: ['k8s.cluster.uid', 'k8s.cluster.name'], name: ['k8s.cluster.name'], within: undefined },
  {
    kind: 'deployment',
    id: ['k8s.deployment.uid', 'k8s.deployment.name'],
    name: ['k8s.deployment.name'],
    within: 'k8s.namespace.name',
  },
  {
    kind: 'statefulset',
    id: ['k8s.statefulset.uid', 'k8s.statefulset.name'],
    name: ['k8s.statefulset.name'],
    within: 'k8s.namespace.name',
  },
  {
    kind: 'daemonset',
    id: ['k8s.daemonset.uid', 'k8s.daemonset.name'],
    name: ['k8s.daemonset.name'],
    within: 'k8s.namespace.name',
  },
  {
    kind: 'cronjob',
    id: ['k8s.cronjob.uid', 'k8s.cronjob.name'],
    name: ['k8s.cronjob.name'],
    within: 'k8s.namespace.name',
  },
  { kind: 'job', id: ['k8s.job.uid', 'k8s.job.name'], name: ['k8s.job.name'], within: 'k8s.namespace.name' },
  { kind: 'function', id: ['faas.instance', 'faas.name'], name: ['faas.name'], within: undefined },
] as const;

/** One row for each entity and resource that contained it. */
export const entitiesTable = defineTable({
  name: 'entities',
  summary: 'Services, hosts, pods, containers and other entities in resources, with first and last time',
  retention: 'longest',
  shardedBy: 'tenant',
  identity: 'id',
  engine: 'AggregatingMergeTree',
  columns: {
    tenant_id: 'LowCardinality(String)',
    kind: 'LowCardinality(String)',
    /**
     * Unique within the kind. An ID that is only unique within another entity has that entity's ID and a slash as
     * prefix.
     */
    id: 'String',
    name: 'String',
    resource_id: 'UInt64',
    first_seen: "SimpleAggregateFunction(min, DateTime64(3, 'UTC'))",
    last_seen: "SimpleAggregateFunction(max, DateTime64(3, 'UTC'))",
  },
  orderBy: ['tenant_id', 'kind', 'id', 'resource_id'],
  settings: identityKeySettings,
});

const buildEntityTuple = ({ kind, id, name, within }: (typeof entityKinds)[number]): string => {
  const ownId = buildFirstAttributeSql(id);
  const fullId =
    within === undefined
      ? ownId
      : `if(attributes['${within}'] = '' OR ${ownId} = '', ${ownId}, concat(attributes['${within}'], '/', ${ownId}))`;
  return `('${kind}', ${fullId}, ${buildFirstAttributeSql([...name, ...id])})`;
};

export const entitiesView: MaterializedView = {
  name: 'entities_view',
  from: 'resources',
  to: 'entities',
  select: `SELECT tenant_id, entity.1 AS kind, entity.2 AS id, entity.3 AS name, resource_id, first_seen, last_seen
FROM resources
ARRAY JOIN arrayFilter(candidate -> candidate.2 != '', [${entityKinds.map(buildEntityTuple).join(',\n  ')}]) AS entity`,
};
