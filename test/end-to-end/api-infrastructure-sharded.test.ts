import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-infrastructure.test.ts'), { servers: 2 });
