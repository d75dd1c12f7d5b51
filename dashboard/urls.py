"""The pages' addresses. One URL a view: filters and pages are in the query string."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from dashboard.views import (
    effects,
    findings,
    flaky,
    leakers,
    projects,
    recognisers,
    routes,
    runs,
    search,
    settings,
    sign_in,
    tests,
    uploads,
)

_project = [
    path("", projects.project, name="project"),
    path("search", search.project_search, name="search"),
    path("runs", runs.run_list, name="runs"),
    path("runs/<int:pk>", runs.run, name="run"),
    path("runs/<int:pk>/results", runs.results, name="results"),
    path("runs/<int:pk>/compare", runs.compare, name="compare"),
    path("runs/<int:pk>/exclude", runs.exclude, name="exclude"),
    path("failures/<int:pk>", runs.failure, name="failure"),
    path("tests", tests.test_list, name="tests"),
    path("tests/<int:pk>", tests.test, name="test"),
    path("flaky", flaky.flaky_list, name="flaky"),
    path("leakers", leakers.leaker_list, name="leakers"),
    path("leakers/<int:pk>", leakers.leaker, name="leaker"),
    path("leakers/<int:pk>/decide", leakers.decide, name="decide-leaker"),
    path("leak-map", leakers.leak_map, name="leak-map"),
    path("findings", findings.finding_list, name="findings"),
    path("findings/decide", findings.decide, name="decide"),
    path("findings/export", findings.export, name="export-findings"),
    path("findings/<int:pk>", findings.finding, name="finding"),
    path("effects", effects.effect_list, name="effects"),
    path("uploads", uploads.upload_list, name="uploads"),
    path("uploads/<int:pk>", uploads.upload, name="upload"),
    path("uploads/<int:pk>/raw", uploads.raw, name="upload-raw"),
    path("uploads/<int:pk>/files/<int:n>", uploads.file, name="upload-file"),
    path("uploads/<int:pk>/retry", uploads.retry, name="upload-retry"),
    path("uploads/<int:pk>/attach", uploads.attach, name="upload-attach"),
    path("settings", settings.general, name="settings"),
    path("settings/tokens", settings.tokens, name="tokens"),
    path("settings/tokens/new", settings.make_token, name="make-token"),
    path("settings/tokens/<int:pk>/revoke", settings.revoke_token, name="revoke-token"),
    path("settings/secret", settings.secret, name="secret"),
    path("settings/secret/rotate", settings.rotate_secret, name="rotate-secret"),
    path("settings/routes", routes.routes, name="routes"),
    path("settings/routes/new", routes.make_route, name="make-route"),
    path("settings/routes/<int:pk>", routes.route, name="route"),
    path("settings/routes/<int:pk>/rotate", routes.rotate_route, name="rotate-route"),
    path(
        "settings/routes/<int:pk>/disable", routes.disable_route, name="disable-route"
    ),
    path("settings/recognisers", recognisers.recognisers, name="recognisers"),
    path(
        "settings/recognisers/<slug:recogniser>/remove",
        recognisers.remove_recogniser,
        name="remove-recogniser",
    ),
    path("settings/members", settings.people, name="members"),
    path("settings/members/<int:pk>", settings.change_member, name="change-member"),
    path("settings/audit", settings.audit_log, name="audit"),
]

urlpatterns = [
    path("", projects.projects, name="projects"),
    path("new", projects.new_project, name="new-project"),
    path("search", search.everywhere, name="search-everywhere"),
    path("sign-in", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/<slug:provider>", sign_in.begin, name="sign-in-with"),
    path("sign-in/<slug:provider>/done", sign_in.finish, name="sign-in-done"),
    path("sign-out", LogoutView.as_view(), name="sign-out"),
    path("account/password", sign_in.ChangePassword.as_view(), name="change-password"),
    path("p/<str:owner>/<str:name>/", include(_project)),
]
