import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-links.test.ts'), { servers: 2 });
