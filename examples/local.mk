NIGHTLY = examples/nightly
TESTS += $(NIGHTLY)/run-twice
EXTRA_DIST += $(NIGHTLY)/run-twice $(NIGHTLY)/README.md $(NIGHTLY)/nightly.json $(NIGHTLY)/make-files $(NIGHTLY)/tables.sql \
	$(NIGHTLY)/no_orphans.sql $(NIGHTLY)/daily_sales.sql
ACCEPTANCE = examples/disk-acceptance
TESTS += $(ACCEPTANCE)/accept-twice
EXTRA_DIST += $(ACCEPTANCE)/accept-twice $(ACCEPTANCE)/accept $(ACCEPTANCE)/README.md $(ACCEPTANCE)/matrix.json $(ACCEPTANCE)/targets.json
STRIPED = examples/striped-backup
TESTS += $(STRIPED)/run-once
EXTRA_DIST += $(STRIPED)/run-once $(STRIPED)/README.md
STRESS = examples/query-stress
TESTS += $(STRESS)/run-once
EXTRA_DIST += $(STRESS)/run-once $(STRESS)/README.md $(STRESS)/queries/1_best_customers.sql $(STRESS)/queries/2_by_month.sql \
	$(STRESS)/queries/3_large_orders.sql $(STRESS)/queries/4_one_customer.sql
RECORD = examples/record-replay
TESTS += $(RECORD)/run-once
EXTRA_DIST += $(RECORD)/run-once $(RECORD)/README.md
TESTS += $(NIGHTLY)/check-schedule
EXTRA_DIST += $(NIGHTLY)/check-schedule $(NIGHTLY)/fullrack-nightly.service $(NIGHTLY)/fullrack-nightly.timer $(NIGHTLY)/fullrack-nightly.cron
SLURM = examples/slurm
TESTS += $(SLURM)/run-array
EXTRA_DIST += $(SLURM)/run-array $(SLURM)/load.sbatch $(SLURM)/README.md
KUBERNETES = examples/kubernetes
TESTS += $(KUBERNETES)/run-job
EXTRA_DIST += $(KUBERNETES)/run-job $(KUBERNETES)/job.yaml $(KUBERNETES)/README.md
