-- The tables of revision 0013 in PostgreSQL, which stand there for the migrations up to it. Frozen: what changes later is a migration.
CREATE TABLE aggregates (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    section text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    shown text COLLATE "C" NOT NULL,
    CONSTRAINT pk_aggregates PRIMARY KEY (tenant, scope, id)
);
CREATE TABLE beliefs (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    lesson_id text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    times_right integer NOT NULL,
    times_wrong integer NOT NULL,
    CONSTRAINT pk_beliefs PRIMARY KEY (tenant, scope, lesson_id)
);
CREATE TABLE cores (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_cores PRIMARY KEY (tenant, scope)
);
CREATE TABLE draws (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    lesson_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    chance double precision NOT NULL,
    withheld boolean NOT NULL,
    score double precision,
    CONSTRAINT pk_draws PRIMARY KEY (tenant, scope, lesson_id, run_id)
);
CREATE INDEX ix_draws_run ON draws (tenant, scope, run_id);
CREATE TABLE exposures (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    lesson_id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    CONSTRAINT pk_exposures PRIMARY KEY (tenant, scope, run_id, lesson_id, role)
);
CREATE INDEX ix_exposures_tenant_scope_lesson_id ON exposures (tenant, scope, lesson_id);
CREATE TABLE failed_replies (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_failed_replies PRIMARY KEY (tenant, scope, id)
);
CREATE TABLE forgotten_runs (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    salt text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    CONSTRAINT pk_forgotten_runs PRIMARY KEY (tenant, scope, digest)
);
CREATE TABLE grades (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    lesson_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    is_right boolean NOT NULL,
    place integer NOT NULL,
    reliability text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    wording text COLLATE "C" NOT NULL,
    CONSTRAINT pk_grades PRIMARY KEY (tenant, scope, lesson_id, run_id)
);
CREATE INDEX ix_grades_tenant_scope_run_id ON grades (tenant, scope, run_id);
CREATE TABLE held (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_held PRIMARY KEY (tenant, scope, id)
);
CREATE INDEX ix_held_tenant_scope_state ON held (tenant, scope, state);
CREATE TABLE held_statements (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    says text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    CONSTRAINT pk_held_statements PRIMARY KEY (tenant, scope, says, id)
);
CREATE INDEX ix_held_statements_tenant_scope_id ON held_statements (tenant, scope, id);
CREATE TABLE installation (
    writer text COLLATE "C" NOT NULL,
    created text COLLATE "C" NOT NULL,
    unscrubbed text COLLATE "C" NOT NULL DEFAULT '',
    CONSTRAINT pk_installation PRIMARY KEY (writer)
);
CREATE TABLE labels (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    place integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    answer text COLLATE "C" NOT NULL,
    reliability text COLLATE "C" NOT NULL,
    counts boolean NOT NULL,
    CONSTRAINT pk_labels PRIMARY KEY (tenant, scope, run_id)
);
CREATE INDEX ix_labels_tenant_scope_place ON labels (tenant, scope, place);
CREATE TABLE ledger (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    writer text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    delta_id text COLLATE "C" NOT NULL,
    delta_key text COLLATE "C",
    payload text COLLATE "C" NOT NULL,
    previous text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    recorded text COLLATE "C" NOT NULL,
    effective boolean NOT NULL DEFAULT true,
    imported boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_ledger PRIMARY KEY (tenant, scope, version),
    CONSTRAINT uq_ledger_tenant_scope_writer_seq UNIQUE (tenant, scope, writer, seq)
);
CREATE INDEX ix_ledger_tenant_scope_delta_id ON ledger (tenant, scope, delta_id);
CREATE INDEX ix_ledger_tenant_scope_delta_key ON ledger (tenant, scope, delta_key);
CREATE TABLE ledger_heads (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    writer text COLLATE "C" NOT NULL,
    count integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    CONSTRAINT pk_ledger_heads PRIMARY KEY (tenant, scope, writer)
);
CREATE TABLE ledger_texts (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    salt text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    CONSTRAINT pk_ledger_texts PRIMARY KEY (tenant, scope, version, digest)
);
CREATE TABLE lessons (
    n bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    section text COLLATE "C" NOT NULL,
    about text COLLATE "C" NOT NULL,
    came integer NOT NULL,
    pinned boolean NOT NULL,
    created text COLLATE "C" NOT NULL,
    updated text COLLATE "C" NOT NULL,
    helpful integer NOT NULL,
    harmful integer NOT NULL,
    neutral integer NOT NULL,
    support integer NOT NULL,
    tokens integer NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_lessons PRIMARY KEY (tenant, n),
    CONSTRAINT uq_lessons_tenant_scope_id UNIQUE (tenant, scope, id)
);
CREATE INDEX ix_lessons_support ON lessons (tenant, scope, support DESC, id);
CREATE INDEX ix_lessons_tenant_scope_about ON lessons (tenant, scope, about);
CREATE INDEX ix_lessons_tenant_scope_came ON lessons (tenant, scope, came);
CREATE INDEX ix_lessons_tenant_scope_status ON lessons (tenant, scope, status);
CREATE TABLE memory_entries (
    n bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    event text COLLATE "C",
    body text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL DEFAULT '',
    own boolean NOT NULL DEFAULT true,
    CONSTRAINT pk_memory_entries PRIMARY KEY (tenant, n),
    CONSTRAINT uq_memory_entries_tenant_scope_event UNIQUE (tenant, scope, event),
    CONSTRAINT uq_memory_entries_tenant_scope_id UNIQUE (tenant, scope, id)
);
CREATE INDEX ix_memory_entries_day ON memory_entries (tenant, scope, day, at, id, session, own);
CREATE TABLE memory_files (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    layer text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    CONSTRAINT pk_memory_files PRIMARY KEY (tenant, scope, layer, name)
);
CREATE TABLE memory_nodes (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    stale boolean NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_memory_nodes PRIMARY KEY (tenant, scope, kind, key)
);
CREATE INDEX ix_memory_nodes_stale ON memory_nodes (tenant, scope, stale);
CREATE TABLE noise (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_noise PRIMARY KEY (tenant, scope)
);
CREATE TABLE observations (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    aggregate text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    counts boolean NOT NULL,
    amount text COLLATE "C" NOT NULL,
    moment text COLLATE "C" NOT NULL,
    delta_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    step integer NOT NULL,
    origin text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_observations PRIMARY KEY (tenant, scope, id)
);
CREATE INDEX ix_observations_amount ON observations (tenant, scope, aggregate, unit, key, counts, amount);
CREATE INDEX ix_observations_last ON observations (tenant, scope, aggregate, unit, key, counts, moment, delta_id, step, id);
CREATE INDEX ix_observations_origin ON observations (tenant, scope, origin);
CREATE INDEX ix_observations_run ON observations (tenant, scope, run_id);
CREATE TABLE postponed (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    barrier text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    attempts integer NOT NULL,
    moment text COLLATE "C" NOT NULL,
    CONSTRAINT pk_postponed PRIMARY KEY (tenant, scope, run_id)
);
CREATE INDEX ix_postponed_moment ON postponed (tenant, scope, moment);
CREATE TABLE records (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    group_key text COLLATE "C",
    imported boolean NOT NULL DEFAULT false,
    delta_id text COLLATE "C",
    points_to text COLLATE "C",
    CONSTRAINT pk_records PRIMARY KEY (tenant, scope, key)
);
CREATE INDEX ix_records_tenant_scope_group_key ON records (tenant, scope, group_key);
CREATE INDEX ix_records_tenant_scope_points_to ON records (tenant, scope, points_to);
CREATE TABLE runs (
    n bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    arrived integer NOT NULL,
    task_key text COLLATE "C" NOT NULL,
    task_kind text COLLATE "C" NOT NULL,
    success boolean,
    finished boolean NOT NULL,
    steps integer NOT NULL,
    learned integer,
    tools text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL DEFAULT '',
    revoked boolean NOT NULL DEFAULT false,
    CONSTRAINT pk_runs PRIMARY KEY (tenant, n),
    CONSTRAINT uq_runs_tenant_scope_id UNIQUE (tenant, scope, id)
);
CREATE INDEX ix_runs_tenant_scope_arrived ON runs (tenant, scope, arrived);
CREATE INDEX ix_runs_tenant_scope_origin ON runs (tenant, scope, origin);
CREATE INDEX ix_runs_tenant_scope_task_key ON runs (tenant, scope, task_key);
CREATE TABLE scopes (
    n bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    version integer NOT NULL DEFAULT 0,
    cases integer NOT NULL DEFAULT 0,
    merged integer NOT NULL DEFAULT 0,
    CONSTRAINT pk_scopes PRIMARY KEY (tenant, n),
    CONSTRAINT uq_scopes_tenant_scope UNIQUE (tenant, scope)
);
CREATE TABLE settings (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    CONSTRAINT pk_settings PRIMARY KEY (tenant, scope, name)
);
CREATE TABLE sizes (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    section text COLLATE "C" NOT NULL,
    lessons integer NOT NULL,
    tokens integer NOT NULL,
    CONSTRAINT pk_sizes PRIMARY KEY (tenant, scope, section)
);
CREATE TABLE sources (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    lesson_id text COLLATE "C" NOT NULL,
    CONSTRAINT pk_sources PRIMARY KEY (tenant, scope, run_id, lesson_id)
);
CREATE TABLE spending (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    calls integer NOT NULL,
    input_tokens integer NOT NULL,
    output_tokens integer NOT NULL,
    cached_tokens integer NOT NULL,
    cost_usd text COLLATE "C" NOT NULL,
    priced boolean NOT NULL,
    CONSTRAINT pk_spending PRIMARY KEY (tenant, scope, day)
);
CREATE TABLE steps (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    place integer NOT NULL,
    body text COLLATE "C" NOT NULL,
    CONSTRAINT pk_steps PRIMARY KEY (tenant, scope, run_id, place)
);
CREATE TABLE sums (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    aggregate text COLLATE "C" NOT NULL,
    unit text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    count integer NOT NULL,
    total text COLLATE "C" NOT NULL,
    CONSTRAINT pk_sums PRIMARY KEY (tenant, scope, aggregate, unit, key)
);
CREATE INDEX ix_sums_count ON sums (tenant, scope, aggregate, count DESC, key, unit);
CREATE TABLE vectors (
    n bigint GENERATED BY DEFAULT AS IDENTITY NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    dimension integer NOT NULL,
    text_hash text COLLATE "C" NOT NULL,
    vector vector NOT NULL,
    CONSTRAINT pk_vectors PRIMARY KEY (tenant, n),
    CONSTRAINT uq_vectors_tenant_scope_kind_id_model UNIQUE (tenant, scope, kind, id, model)
);
CREATE INDEX ix_vectors_tenant_scope_kind_model_dimension_n ON vectors (tenant, scope, kind, model, dimension, n);
CREATE TABLE tenants (
    name text COLLATE "C" NOT NULL,
    CONSTRAINT pk_tenants PRIMARY KEY (name)
);
CREATE TABLE lessons_words (
    tenant text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    wall bigint NOT NULL,
    said text COLLATE "C" NOT NULL,
    asked text COLLATE "C" NOT NULL,
    marks text COLLATE "C" NOT NULL,
    length double precision NOT NULL,
    CONSTRAINT pk_lessons_words PRIMARY KEY (tenant, n)
);
CREATE TABLE lessons_holders (
    tenant text COLLATE "C" NOT NULL,
    wall bigint NOT NULL,
    stem text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    times real NOT NULL,
    length real NOT NULL,
    own boolean NOT NULL,
    marked boolean NOT NULL,
    CONSTRAINT pk_lessons_holders PRIMARY KEY (tenant, wall, stem, n) INCLUDE (times, length)
);
CREATE TABLE runs_words (
    tenant text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    wall bigint NOT NULL,
    said text COLLATE "C" NOT NULL,
    asked text COLLATE "C" NOT NULL,
    marks text COLLATE "C" NOT NULL,
    length double precision NOT NULL,
    CONSTRAINT pk_runs_words PRIMARY KEY (tenant, n)
);
CREATE TABLE runs_holders (
    tenant text COLLATE "C" NOT NULL,
    wall bigint NOT NULL,
    stem text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    times real NOT NULL,
    length real NOT NULL,
    own boolean NOT NULL,
    marked boolean NOT NULL,
    CONSTRAINT pk_runs_holders PRIMARY KEY (tenant, wall, stem, n) INCLUDE (times, length)
);
CREATE TABLE memory_words (
    tenant text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    wall bigint NOT NULL,
    said text COLLATE "C" NOT NULL,
    CONSTRAINT pk_memory_words PRIMARY KEY (tenant, n)
);
CREATE TABLE memory_holders (
    tenant text COLLATE "C" NOT NULL,
    wall bigint NOT NULL,
    stem text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    CONSTRAINT pk_memory_holders PRIMARY KEY (tenant, wall, stem, n)
);
CREATE TABLE alembic_version (
    version_num varchar(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version (version_num) VALUES ('0013');
