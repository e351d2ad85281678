/**
 * Identity of a service. Its name is unique in its namespace only, so the name of a service with a namespace is
 * `namespace/name`, as in the label `job` of Prometheus' mapping of OpenTelemetry and in the ids of entities.
 */
export const buildServiceName = (name: string, namespace: string): string =>
  name === '' || namespace === '' ? name : `${namespace}/${name}`;
