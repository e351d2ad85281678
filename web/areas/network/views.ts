/** Kinds of endpoints of a flow */
export const views = { workload: 'workloads', host: 'hosts', zone: 'zones', address: 'addresses' } as const;
