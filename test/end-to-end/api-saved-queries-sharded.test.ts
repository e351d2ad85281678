import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-saved-queries.test.ts'), { servers: 2 });
