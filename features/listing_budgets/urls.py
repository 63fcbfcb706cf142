"""The page of listing budgets."""

from django.urls import path

from features.listing_budgets import pages

urlpatterns = [path("listings/", pages.listing_budget_list, name="listing_budget_list")]
