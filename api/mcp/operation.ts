/** `POST /mcp`: the Model Context Protocol over streamable HTTP, without sessions. */
import { z } from 'zod';
import { defineOperation, type Operation } from '../kernel/operation.ts';
import type { McpCatalog } from './server.ts';

const maxBodyBytes = 1024 * 1024;

/** Headers of the protocol that its transport checks */
const transportHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'last-event-id'];

/** The transport checks the rest. `id` is declared, because the API ignores it in bodies without it. */
const JsonRpcMessage = z.looseObject({ id: z.union([z.string(), z.number()]).optional() });

/**
 * Declares the endpoint for clients of the Model Context Protocol. It accepts every API token: each tool checks the scopes,
 * the role and the plan that its operation needs, and writes the operation's audit record.
 */
export const createMcpOperation = (operations: readonly Operation[]): Operation => {
  let catalog: McpCatalog | undefined;
  return {
    ...defineOperation({
      method: 'POST',
      path: '/mcp',
      operationId: 'callMcp',
      summary: 'Model Context Protocol over streamable HTTP',
      role: 'viewer',
      auditExemption: 'each tool is an operation with its own audit record',
      hidden: true,
      maxBodyBytes,
      body: JsonRpcMessage,
      contentType: ['application/json; charset=utf-8', 'text/event-stream'],
      response: z.unknown(),
      async handler({ caller, body, request, signal }, ports) {
        const [{ WebStandardStreamableHTTPServerTransport }, { createMcpCatalog, createMcpServer }] = await Promise.all(
          [import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'), import('./server.ts')],
        );
        // On first use, since few processes serve it.
        catalog ??= createMcpCatalog(operations);
        const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
        const server = createMcpServer(catalog, { caller, request, signal, ports });
        await server.connect(transport);
        try {
          const headers = transportHeaders.flatMap((name) => {
            const value = request.header(name);
            return value === '' ? [] : [[name, value] as [string, string]];
          });
          const response = await transport.handleRequest(
            new Request('http://localhost/mcp', { method: 'POST', headers }),
            { parsedBody: body },
          );
          return {
            status: response.status,
            contentType: response.headers.get('content-type') ?? 'application/json; charset=utf-8',
            content: await response.text(),
          };
        } finally {
          await server.close();
        }
      },
    }),
    group: 'mcp',
    scope: 'any',
    reads: [],
  };
};
