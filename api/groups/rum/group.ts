import { defineGroup } from '../define-group.ts';

export const rumGroup = defineGroup({
  name: 'rum',
  summary: 'Sessions, pages, web vitals and errors of browsers.',
  entitlement: 'rum',
  planned: [
    ['GET /api/rum/applications', 'viewer', 'applications that sent data'],
    ['GET /api/rum/sessions', 'viewer', 'sessions'],
    ['GET /api/rum/sessions/{id}', 'viewer', 'one session: views, actions, errors, resources, its traces'],
    ['GET /api/rum/sessions/{id}/replay', 'viewer', 'replay events, in order, in chunks'],
    ['GET /api/rum/web-vitals', 'viewer', 'LCP, INP, CLS, FCP, TTFB: p75 and rating, by page, device, country'],
    ['GET /api/rum/errors', 'viewer', 'front-end errors, source-mapped where maps were uploaded'],
    ['GET /api/rum/resources', 'viewer', 'resource timing'],
    ['GET /api/rum/pages', 'viewer', 'pages with views and timing'],
    ['POST /api/rum/source-maps', 'editor', 'upload source maps'],
  ],
});
