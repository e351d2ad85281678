import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-errors.test.ts'), { servers: 2 });
