/** What the two ends of a flow may be. */
export const views = { workload: 'workloads', host: 'hosts', zone: 'zones', address: 'addresses' } as const;
