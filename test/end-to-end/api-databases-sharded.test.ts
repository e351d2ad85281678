import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-databases.test.ts'), { servers: 2 });
