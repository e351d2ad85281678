#!/usr/bin/env bash
# Installs, upgrades, rolls back and uninstalls the chart on a real API server with simulated nodes.
# KUBE_DIRECTORY holds kube.sh and its programs (README.md); helm is the one of HELM, or on the PATH. Not part of `npm test`.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${KUBE_DIRECTORY:?names the folder of kube.sh, kubectl and the others}"
work=$(mktemp -d)
export KUBE_PORT=${KUBE_PORT:-26443}
KUBECONFIG=$("$KUBE_DIRECTORY/kube.sh" start "$work/cluster" | tail -1)
export KUBECONFIG
trap '"$KUBE_DIRECTORY/kube.sh" clean "$work/cluster" > /dev/null 2>&1; rm -rf "$work"' EXIT
helm=${HELM:-helm}
kubectl() { "$KUBE_DIRECTORY/kubectl" "$@"; }
values=test/cases/chart/values
passed=0
say() { echo "ok - $*"; passed=$((passed + 1)); }
die() { echo "NOT OK - $*"; exit 1; }
is() { [ "$1" = "$2" ] || die "$3: $1, not $2"; say "$3: $1"; }
secret() { kubectl get secret -n "$1" "$2" -o jsonpath="{.data.$3}"; }
images() { kubectl get pods -n "$1" -l app.kubernetes.io/component!=migrate -o jsonpath='{.items[*].spec.containers[*].image}' | tr ' ' '\n' | sort -u; }
revisions() { kubectl get deployments -n "$1" -o jsonpath='{range .items[*]}{.metadata.name}={.metadata.generation} {end}'; }

echo "# standalone"
"$helm" install oiq charts/oiq -n one --create-namespace --wait --timeout 120s > "$work/notes"
grep -q 'helm test -n one oiq' "$work/notes" || die "NOTES.txt names no next step"
is "$(kubectl get pods -n one --no-headers | wc -l)" 1 "pods of a standalone"
is "$(kubectl get pvc -n one -o jsonpath='{.items[*].status.phase}')" Bound "its volume"
password=$(secret one oiq-generated OIQ_BOOTSTRAP_PASSWORD)
"$helm" upgrade oiq charts/oiq -n one --set settings.LOG_LEVEL=debug --wait --timeout 120s > /dev/null
[ "$(secret one oiq-generated OIQ_BOOTSTRAP_PASSWORD)" = "$password" ] || die "an upgrade changed the password"
say "an upgrade keeps the password"
"$helm" test oiq -n one --timeout 60s > /dev/null
say "helm test"
"$helm" uninstall oiq -n one --wait > /dev/null
is "$(kubectl get pods,services,deployments,statefulsets -n one --no-headers 2> /dev/null | wc -l)" 0 "what runs after uninstall"
is "$(kubectl get pvc -n one --no-headers | wc -l)" 1 "volumes kept"
"$helm" install oiq charts/oiq -n one --wait --timeout 120s > /dev/null
[ "$(secret one oiq-generated OIQ_BOOTSTRAP_PASSWORD)" = "$password" ] || die "a second install changed the password"
say "a second install over the volume that was kept has the password of the first"

echo "# cluster"
"$helm" install oiq charts/oiq -n two --create-namespace -f "$values/cluster.yaml" --wait --wait-for-jobs --timeout 180s > /dev/null
is "$(kubectl get deployments -n two --no-headers | awk '{print $2}' | sort | uniq -c | awk '{print $2}' | tr '\n' ' ')" "1/1 2/2 " "deployments that are ready"
is "$(kubectl get pods -n two --no-headers | wc -l)" 7 "pods of a cluster"
is "$(kubectl get jobs -n two --no-headers 2> /dev/null | wc -l)" 0 "migration Jobs left after success"
key=$(secret two oiq-generated OIQ_SECRET_KEY)
[ -n "$key" ] || die "no secret key was made"
before=$(revisions two)
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --wait --timeout 180s > /dev/null
[ "$(revisions two)" = "$before" ] || die "an upgrade that changes nothing changed a Deployment"
say "an upgrade that changes nothing restarts nothing"
deployments() { kubectl get deployments -n "$1" -o name | sed 's|.*/oiq-||' | sort | tr '\n' ' '; }
commands() { kubectl get deployment -n two "$1" -o jsonpath='{.spec.template.spec.containers[0].args[*]}'; }
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --set processors.detections.replicas=2 --wait --timeout 180s > /dev/null
is "$(deployments two)" "api processor-detections processors receivers sinks " "deployments with a processor that is named"
is "$(commands oiq-processor-detections)" "processors detections" "command of its own Deployment"
commands oiq-processors | grep -qw detections && die "detections are in the common Deployment too"
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --wait --timeout 180s > /dev/null
is "$(deployments two)" "api processors receivers sinks " "deployments without a name"
is "$(commands oiq-processors)" processors "command of the common Deployment"
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --set image.tag=0.2.0 --wait --timeout 180s > /dev/null
is "$(images two)" oiq:0.2.0 "images after an upgrade"
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --set image.tag=0.2.1-sim-crash --timeout 60s > /dev/null 2> "$work/failed" && die "a migration that fails lets the upgrade go on"
is "$(images two)" oiq:0.2.0 "images after a migration that failed"
[ "$(kubectl get job -n two oiq-migrate -o jsonpath="{.status.failed}")" -ge 1 ] || die "the failed Job is gone"
say "the Job that failed stays"
"$helm" upgrade oiq charts/oiq -n two -f "$values/cluster.yaml" --set image.tag=0.2.2-sim-notready --set migration.enabled=false --atomic --timeout 30s > /dev/null 2>&1 && die "--atomic took pods that are never ready"
is "$(images two)" oiq:0.2.0 "images after --atomic rolled back"
"$helm" rollback oiq 1 -n two --wait --timeout 180s > /dev/null
is "$(images two)" oiq:0.1.0 "images after a rollback"
[ "$(secret two oiq-generated OIQ_SECRET_KEY)" = "$key" ] || die "the secret key changed"
say "the secret key is that of the first install"
"$helm" test oiq -n two --timeout 60s > /dev/null
say "helm test"
sets=
for file in ${CRD_FILES:-}; do
  kubectl apply --server-side -f "$file" > /dev/null || die "$file is refused"
  sets="cluster-keda cluster-keda-sasl cluster-gateway"
done
[ -z "$sets" ] || kubectl wait --for condition=established --timeout=60s crd --all > /dev/null
# A Job cannot be changed, and Helm replaces it.
kubectl delete job -n two oiq-migrate > /dev/null
for set in $sets cluster-small cluster-hpa cluster-locked-down cluster-placed cluster-existing-secret; do
  # Helm's own dry run does not show the objects to the API server.
  "$helm" template oiq charts/oiq -n two --validate --is-upgrade -f "$values/$set.yaml" > "$work/rendered.yaml" || die "$set is not rendered"
  kubectl apply -n two --server-side --force-conflicts --dry-run=server --validate=strict -f "$work/rendered.yaml" > /dev/null || die "$set is refused"
  say "the API server accepts $set"
done
if [ -n "${FORMER_CHART:-}" ]; then
  echo "# from the former layout"
  "$helm" install oiq "$FORMER_CHART" -n three --create-namespace -f "$values/cluster.yaml" --wait --wait-for-jobs --timeout 300s > /dev/null
  say "former layout: $(kubectl get pods -n three --no-headers | wc -l) pods"
  key=$(secret three oiq-generated OIQ_SECRET_KEY)
  "$helm" upgrade oiq charts/oiq -n three -f "$values/cluster.yaml" --wait --timeout 300s > /dev/null
  for _ in $(seq 60); do [ "$(kubectl get pods -n three --no-headers | wc -l)" = 7 ] && break || sleep 2; done
  is "$(kubectl get pods -n three --no-headers | wc -l)" 7 "pods after the upgrade"
  is "$(deployments three)" "api processors receivers sinks " "deployments after the upgrade"
  [ "$(secret three oiq-generated OIQ_SECRET_KEY)" = "$key" ] || die "the secret key changed"
  "$helm" uninstall oiq -n three --wait > /dev/null
fi
"$helm" uninstall oiq -n two --wait > /dev/null
left() { kubectl get all,pdb,networkpolicies,configmaps -n two --no-headers 2> /dev/null | grep -vc -e kube-root-ca -e oiq-migrate || true; }
for _ in $(seq 60); do [ "$(left)" = 0 ] && break || sleep 2; done
is "$(left)" 0 "what is left after uninstall"
[ "$(secret two oiq-generated OIQ_SECRET_KEY)" = "$key" ] || die "uninstall took the secret key"
say "the secret key stays"
echo "$passed passed"
