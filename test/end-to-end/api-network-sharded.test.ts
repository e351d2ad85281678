import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-network.test.ts'), { servers: 2 });
