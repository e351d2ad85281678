import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-closing.test.ts'), { servers: 2 });
