# One image for every role: `docker run oiq start`, `… receivers`, `… sinks logs`, `… api`, `… migrate`. test/end-to-end/image.test.ts
# takes the same steps in an empty folder.
# The base is the release of Node that package.json pins, by the digest of its image for all platforms. Change both together
# (`docker buildx imagetools inspect node:VERSION-bookworm-slim` prints the digest).
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /opt/oiq
COPY package.json package-lock.json .npmrc ./
# The image has Node 24 already; the pinned one is for machines that have not. With `--omit=dev`, npm's SBOM leaves out what development
# needs too, so that development is taken out of the copy of package.json before.
RUN npm install --no-save --ignore-scripts --omit=dev --no-audit --no-fund \
 && rm -rf node_modules/node-linux-* node_modules/node-darwin-* node_modules/node-bin-* \
 && npm pkg delete devDependencies && npm sbom --sbom-format=cyclonedx > sbom.cdx.json
COPY . .
# Builds the page. What builds it is not needed any more.
RUN node web/build.ts && rm -rf node_modules/esbuild node_modules/@esbuild
# Compiled code is a third of a start. One run of all roles leaves it in the image, by the user and with the flags that read it.
ENV NODE_COMPILE_CACHE=/opt/oiq/node_modules/.cache/node UV_THREADPOOL_SIZE=16
RUN mkdir -p node_modules/.cache/node && chown 1000:1000 node_modules/.cache/node
USER 1000:1000
RUN (OIQ_DATA_DIR=/tmp/once timeout --signal=TERM 30 node --max-semi-space-size=16 --import=./bin/imports.mjs main.ts start || true) \
 && rm -rf /tmp/once && test -n "$(ls node_modules/.cache/node)"

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS runtime
# No package manager runs in it.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/yarn* /usr/local/bin/corepack \
 && mkdir -p /var/lib/oiq && chown node:node /var/lib/oiq
WORKDIR /opt/oiq
COPY --from=build /opt/oiq .
ENV NODE_ENV=production UV_THREADPOOL_SIZE=16 NODE_COMPILE_CACHE=/opt/oiq/node_modules/.cache/node OIQ_DATA_DIR=/var/lib/oiq \
    MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=4194304 \
    OIQ_HTTP_ADDRESS=0.0.0.0:8080 OIQ_OTLP_GRPC_ADDRESS=0.0.0.0:4317 OIQ_OTLP_HTTP_ADDRESS=0.0.0.0:4318
# By number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /var/lib/oiq
EXPOSE 8080 4317 4318
# Node as process 1 gets SIGTERM itself and drains.
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "--max-semi-space-size=16", \
  "--import=./bin/imports.mjs", "main.ts"]
CMD ["start"]

# A probe of a location: `docker build --target probe`, with Chromium without windows. It pings without rights, where net.ipv4.ping_group_range has its group.
FROM runtime AS probe
USER root
RUN apt-get update && apt-get install -y --no-install-recommends iputils-ping chromium-headless-shell tini && rm -rf /var/lib/apt/lists/* && chmod u-s /bin/ping
USER 1000:1000
# As bin/oiq.mjs starts it: with a smaller nursery. Of each run of a browser six processes end as children of process 1, where Node would keep
# them until no more can be started; tini does not, and hands SIGTERM on.
ENTRYPOINT ["tini", "--", "node", "--disable-warning=ExperimentalWarning", "--disable-warning=TimeoutNegativeWarning", "--max-semi-space-size=4", \
  "--import=./bin/imports.mjs", "main.ts"]
CMD ["probe"]

# What is built unless something else is asked for.
FROM runtime
