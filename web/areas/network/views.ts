/** Labels of the kinds of flow endpoints */
export const endpointKinds = { workload: 'workloads', host: 'hosts', zone: 'zones', address: 'addresses' } as const;
