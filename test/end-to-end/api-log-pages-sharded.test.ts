import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-log-pages.test.ts'), { servers: 2 });
