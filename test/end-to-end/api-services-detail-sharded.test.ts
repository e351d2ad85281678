import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-services-detail.test.ts'), { servers: 2 });
