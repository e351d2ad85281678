# One image for every role: `docker run oiq start`, `… receivers`, `… sinks`, `… api`, `… migrate`.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /opt/oiq
COPY package.json package-lock.json .npmrc ./
# The image has Node 24 already; the pinned one is for machines that have not.
RUN npm install --no-save --ignore-scripts --omit=dev --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-bin-*

FROM node:24-bookworm-slim
WORKDIR /opt/oiq
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16 OIQ_DATA_DIR=/var/lib/oiq \
    OIQ_HTTP_ADDRESS=0.0.0.0:8080 OIQ_OTLP_GRPC_ADDRESS=0.0.0.0:4317 OIQ_OTLP_HTTP_ADDRESS=0.0.0.0:4318
COPY --from=dependencies /opt/oiq/node_modules node_modules
COPY . .
RUN mkdir -p /var/lib/oiq node_modules/.cache/node && chown node:node /var/lib/oiq node_modules/.cache/node
USER node
# Compiled code is a third of a start. One run of all roles leaves it in the image, by the user and with the flags that read it;
# what only a cluster loads is added by a container's own first run.
ENV NODE_COMPILE_CACHE=/opt/oiq/node_modules/.cache/node
RUN OIQ_DATA_DIR=/tmp/once timeout --signal=TERM 30 node --max-semi-space-size=16 main.ts start; \
    rm -r /tmp/once && test -n "$(ls node_modules/.cache/node)"
VOLUME /var/lib/oiq
EXPOSE 8080 4317 4318
# Node as process 1 gets SIGTERM itself and drains.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "--max-semi-space-size=16", "main.ts"]
CMD ["start"]
