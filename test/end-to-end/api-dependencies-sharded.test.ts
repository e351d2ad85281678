import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-dependencies.test.ts'), { servers: 2 });
