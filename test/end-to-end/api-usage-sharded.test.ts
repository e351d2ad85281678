import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-usage.test.ts'), { servers: 2 });
