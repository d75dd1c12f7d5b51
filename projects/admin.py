"""The support tool: projects can be edited, what is history can only be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from projects.models import (
    AuditEntry,
    FailedSignIn,
    Identity,
    Membership,
    Project,
    Secret,
    Token,
)

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Nothing can be added, changed or deleted here."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """No deletion: it would take all facts with it, for hours and for ever."""

    list_display = ("owner", "name", "public", "default_branch", "created_at")
    list_filter = ("public", "demo")
    search_fields = ("owner", "name", "title")

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("project", "user", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("project", "user")
    autocomplete_fields = ("project", "user")
    search_fields = ("user__username", "project__name")


@admin.register(Token)
class TokenAdmin(ReadOnly):
    list_display = (
        "project",
        "name",
        "hint",
        "created_at",
        "last_used_at",
        "revoked_at",
    )
    list_select_related = ("project",)
    fields = (
        "project",
        "name",
        "hint",
        "scopes",
        "created_by",
        "created_at",
        "last_used_at",
        "revoked_at",
    )


@admin.register(Secret)
class SecretAdmin(ReadOnly):
    """Without its value: that is shown once, to who makes it."""

    list_display = ("project", "created_at", "expires_at")
    list_select_related = ("project",)
    fields = ("project", "created_at", "expires_at")


@admin.register(Identity)
class IdentityAdmin(ReadOnly):
    list_display = ("user", "provider", "subject", "created_at")
    list_select_related = ("user",)

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Untie a person from an account."""
        return bool(request.user.is_superuser)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    list_display = ("at", "actor", "action", "subject", "project")
    list_select_related = ("project",)
    search_fields = ("actor", "action", "subject")


@admin.register(FailedSignIn)
class FailedSignInAdmin(ReadOnly):
    list_display = ("at", "key")
