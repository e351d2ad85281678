import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-services.test.ts'), { servers: 2 });
