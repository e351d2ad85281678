/** Kinds of endpoints of a flow */
export const endpointKinds = { workload: 'workloads', host: 'hosts', zone: 'zones', address: 'addresses' } as const;
