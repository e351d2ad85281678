import { overServedColumns } from './served-columns.ts';

await overServedColumns(() => import('./api-services-deployments.test.ts'), { servers: 2 });
